#include "executor/refusals.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "domain/limits.h"

namespace coderunner::executor {
namespace {

std::string canned_503(std::string_view why) {
  const std::string body =
      fmt::format(R"({{"error":{{"code":503,"message":"{}"}}}})", why);  // `why` is our own words
  return fmt::format(
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
      "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
      body.size(), body);
}

bool has_closed(int socket) {
  char drained[4096];
  for (;;) {
    const ssize_t got = ::recv(socket, drained, sizeof drained, MSG_DONTWAIT);
    if (got == 0) return true;
    if (got < 0) return errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
  }
}

}  // namespace

void Refusals::refuse(Descriptor client, std::string_view why, MonoTime now) {
  const std::string answer = canned_503(why);
  ::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(client.get(), SHUT_WR);
  if (clients_.size() < static_cast<std::size_t>(limits::kMaxRefusals))
    clients_.push_back({std::move(client), now + limits::kRefusalDrain});
}

void Refusals::add_to(std::vector<pollfd>& polled) const {
  for (const Client& client : clients_) polled.push_back({client.socket.get(), POLLIN, 0});
}

void Refusals::tend(MonoTime now) {
  std::erase_if(clients_, [now](const Client& client) {
    return client.until <= now || has_closed(client.socket.get());
  });
}

std::optional<MonoTime> Refusals::next_deadline() const {
  if (clients_.empty()) return std::nullopt;
  return clients_.front().until;  // all have the same length of time
}

}  // namespace coderunner::executor
