#include "adapters/http_server/listen_socket.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

namespace coderunner {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";
constexpr mode_t kUnixMode = 0660;  // the service's group may connect, others may not

Error cannot_listen(std::string_view listen, std::string_view why) {
  return fail(Failure::unavailable, fmt::format("cannot listen on {}: {}", listen, why));
}

Error system_error(std::string_view listen) { return cannot_listen(listen, std::strerror(errno)); }

std::string name_of(const sockaddr* address, socklen_t length) {
  if (address->sa_family == AF_UNIX) return "unix";
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (getnameinfo(address, length, host, sizeof host, port, sizeof port,
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "unknown";
  return address->sa_family == AF_INET6 ? fmt::format("[{}]:{}", host, port)
                                        : fmt::format("{}:{}", host, port);
}

struct HostPort {
  std::string host, port;
};

std::optional<HostPort> split_host_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string_view::npos)
    return std::nullopt;
  if (host.empty() || port.empty() || port.size() > 5 ||
      port.find_first_not_of("0123456789") != std::string_view::npos ||
      std::stoi(std::string{port}) > 65535)
    return std::nullopt;
  return HostPort{std::string{host}, std::string{port}};
}

Result<ListenSocket> listen_tcp(const std::string& listen) {
  const auto parts = split_host_port(listen);
  if (!parts)
    return fail(
        Failure::invalid_input,
        fmt::format("'{}' is not an address: write HOST:PORT, [::1]:PORT or unix:PATH", listen));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(parts->host.c_str(), parts->port.c_str(), &hints, &found);
  if (error != 0) return cannot_listen(listen, gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned{found, &freeaddrinfo};

  Descriptor socket{::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  const int on = 1;
  if (socket.get() < 0 || setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(socket.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0)
    return system_error(listen);
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &length) != 0)
    return system_error(listen);
  return ListenSocket{std::move(socket), name_of(reinterpret_cast<sockaddr*>(&bound), length), {}};
}

// A path left by a dead process is removed; one that answers, or is no socket at all, is not ours.
Result<Done> clear_stale_path(const std::string& listen, const sockaddr_un& address) {
  struct stat status {};
  if (lstat(address.sun_path, &status) != 0)
    return errno == ENOENT ? Result<Done>{Done{}} : system_error(listen);
  if (!S_ISSOCK(status.st_mode)) return cannot_listen(listen, "the path exists and is no socket");
  const Descriptor probe{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  const bool refused =
      connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
      errno == ECONNREFUSED;
  if (!refused) return cannot_listen(listen, "another process listens there");
  if (unlink(address.sun_path) != 0 && errno != ENOENT) return system_error(listen);
  return Done{};
}

Result<ListenSocket> listen_unix(const std::string& listen) {
  const std::string path = listen.substr(kUnixPrefix.size());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return fail(Failure::invalid_input,
                fmt::format("'{}' is not an address: the path must hold 1 to {} bytes", listen,
                            sizeof address.sun_path - 1));
  path.copy(address.sun_path, path.size());
  if (const auto cleared = clear_stale_path(listen, address); !cleared) return cleared.error();

  Descriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  // The mode of the descriptor is the most the new path can have: there is no moment at which the
  // umask alone decides who may connect.
  if (socket.get() < 0 || fchmod(socket.get(), kUnixMode) != 0 ||
      bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      chmod(address.sun_path, kUnixMode) != 0 || ::listen(socket.get(), SOMAXCONN) != 0)
    return system_error(listen);
  return ListenSocket{std::move(socket), listen, path};
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Result<ListenSocket> open_listen_socket(const std::string& listen) {
  return listen.starts_with(kUnixPrefix) ? listen_unix(listen) : listen_tcp(listen);
}

std::string peer_of(int socket) {
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &length) != 0) return "unknown";
  return name_of(reinterpret_cast<sockaddr*>(&peer), length);
}

}  // namespace coderunner
