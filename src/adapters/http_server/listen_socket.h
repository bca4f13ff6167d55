// A listening socket and what it leaves on disk: TCP or a Unix path (mode 0660), bound. Used by
// http_server.cc and by app/ for the executor's socket. Never takes over a Unix path that somebody
// still listens on.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace coderunner {

// Owns one descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

struct ListenSocket {
  Descriptor descriptor;  // non-blocking, close-on-exec
  std::string address;    // as clients write it, with the port the kernel picked
  std::string unix_path;  // empty for TCP
};

// "HOST:PORT", "[::1]:PORT" or "unix:PATH". invalid_input where it is none of these, unavailable
// where it cannot be bound; the message names it. May ask the resolver for HOST.
Result<ListenSocket> open_listen_socket(const std::string& listen);

// "127.0.0.1:40112", "[::1]:40112" or "unix": the other end of a connected socket.
std::string peer_of(int socket);

}  // namespace coderunner
