#include "tests/integration/executor/loopback_api.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>

namespace coderunner::executor_test {

const std::string LoopbackApi::kSilence = "silence";

std::string http_answer(int status, const std::string& body, const std::string& headers) {
  return "HTTP/1.1 " + std::to_string(status) +
         " X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body;
}

LoopbackApi::LoopbackApi(Answer answer) : answer_(std::move(answer)) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::pipe(ends), 0);
  end_read_ = executor::Descriptor{ends[0]};
  end_write_ = executor::Descriptor{ends[1]};
  listener_ = executor::Descriptor{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(listener_.get(), generic, length), 0);
  EXPECT_EQ(::listen(listener_.get(), 16), 0);
  EXPECT_EQ(::getsockname(listener_.get(), generic, &length), 0);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread{[this] { serve(); }};
}

LoopbackApi::~LoopbackApi() {
  end_write_.close();
  acceptor_.join();
  for (std::thread& connection : connections_) connection.join();
}

std::string LoopbackApi::base() const { return "http://127.0.0.1:" + std::to_string(port_); }

std::vector<SeenRequest> LoopbackApi::seen() const {
  const std::lock_guard lock{mutex_};
  return seen_;
}

void LoopbackApi::serve() {
  for (int number = 1;; ++number) {
    pollfd polled[2] = {{end_read_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    if (::poll(polled, 2, -1) < 0 || polled[0].revents != 0) return;
    const int socket = ::accept(listener_.get(), nullptr, nullptr);
    connections_.emplace_back([this, socket, number] {
      const executor::Descriptor owner{socket};
      while (serve_connection(socket, number)) continue;
    });
  }
}

bool LoopbackApi::serve_connection(int socket, int number) {
  SeenRequest request{number, {}};
  const auto is_whole = [&request] {
    const std::size_t head = request.text.find("\r\n\r\n");
    if (head == std::string::npos) return false;
    const std::size_t at = request.text.find("Content-Length: ");
    std::size_t length = 0;
    if (at < head) {
      const char* digits = request.text.data() + at + 16;
      std::from_chars(digits, request.text.data() + request.text.size(), length);
    }
    return request.text.size() >= head + 4 + length;
  };
  while (!is_whole()) {
    pollfd polled[2] = {{end_read_.get(), POLLIN, 0}, {socket, POLLIN, 0}};
    if (::poll(polled, 2, -1) < 0 || polled[0].revents != 0) return false;
    char bytes[4096];
    const ssize_t got = ::recv(socket, bytes, sizeof bytes, 0);
    if (got <= 0) return false;
    request.text.append(bytes, static_cast<std::size_t>(got));
  }
  {
    const std::lock_guard lock{mutex_};
    seen_.push_back(request);
  }
  const std::string answer = answer_(request);
  if (answer == kSilence) {
    pollfd polled{end_read_.get(), POLLIN, 0};
    ::poll(&polled, 1, -1);
    return false;
  }
  ::send(socket, answer.data(), answer.size(), MSG_NOSIGNAL);
  return !answer.empty();
}

}  // namespace coderunner::executor_test
