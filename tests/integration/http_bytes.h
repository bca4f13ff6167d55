// For the tests of whatever speaks HTTP: a client that sends exactly the bytes it is told to, and
// handlers a test can steer. Real sockets on the loopback.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/http_server/http_server.h"

namespace coderunner {

using namespace std::chrono_literals;

constexpr int kPatienceMs = 10'000;  // how long a test waits for bytes that must come

// A client that sends exactly the bytes it is told to.
class RawClient {
 public:
  explicit RawClient(const std::string& address) {
    if (address.starts_with("unix:")) {
      fd_ = socket(AF_UNIX, SOCK_STREAM, 0);
      sockaddr_un to{};
      to.sun_family = AF_UNIX;
      address.copy(to.sun_path, sizeof to.sun_path - 1, 5);
      connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    } else {
      fd_ = socket(AF_INET, SOCK_STREAM, 0);
      sockaddr_in to{};
      to.sin_family = AF_INET;
      to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      to.sin_port =
          htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
      connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    }
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient() { close(fd_); }

  bool connected() const { return connected_; }
  void finish_sending() const { shutdown(fd_, SHUT_WR); }

  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // What arrives until `mark` has, or the other side closes; `closed` says which.
  std::string read_until(std::string_view mark) {
    while (mark.empty() || seen_.find(mark) == std::string::npos) {
      pollfd wait{fd_, POLLIN, 0};
      if (poll(&wait, 1, kPatienceMs) <= 0) {
        ADD_FAILURE() << "nothing came; so far: " << seen_;
        break;
      }
      char chunk[4096];
      const ssize_t got = recv(fd_, chunk, sizeof chunk, 0);
      if (got <= 0) {
        closed = true;
        reset = got < 0;
        break;
      }
      seen_.append(chunk, static_cast<std::size_t>(got));
    }
    const std::size_t at = mark.empty() ? std::string::npos : seen_.find(mark);
    const std::size_t end = at == std::string::npos ? seen_.size() : at + mark.size();
    std::string taken = seen_.substr(0, end);
    seen_.erase(0, end);
    return taken;
  }
  std::string read_to_end() { return read_until(""); }

  bool closed = false;
  bool reset = false;

 private:
  int fd_ = -1;
  bool connected_ = false;
  std::string seen_;
};

inline HttpResponse echo(const HttpRequest& request) {
  HttpResponse response;
  response.headers = {{"Content-Type", "text/plain"}};
  response.body =
      request.method + " " + request.path + "?" + request.query + " <" + request.body + ">";
  return response;
}

inline void echo_handler(const HttpRequest& request, const HttpRespond& respond) {
  respond(echo(request));
}

inline std::unique_ptr<HttpServer> start(HttpHandler handler, HttpServerOptions options = {}) {
  if (options.listen == HttpServerOptions{}.listen) options.listen = "127.0.0.1:0";
  auto server = start_http_server(options, std::move(handler));
  EXPECT_TRUE(server) << (server ? "" : server.error().message);
  return server ? std::move(*server) : nullptr;
}

// Holds answers back until a test asks for them.
class Held {
 public:
  HttpHandler handler() {
    return [this](const HttpRequest&, HttpRespond respond) {
      const std::lock_guard lock{mutex_};
      held_.push_back(std::move(respond));
      arrived_.notify_all();
    };
  }
  HttpRespond wait_for_one() {
    std::unique_lock lock{mutex_};
    EXPECT_TRUE(arrived_.wait_for(lock, 10s, [&] { return !held_.empty(); }));
    return held_.empty() ? HttpRespond{} : held_.back();
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<HttpRespond> held_;
};

inline HttpResponse text(std::string body) {
  HttpResponse response;
  response.body = std::move(body);
  return response;
}

class TemporaryFolder {
 public:
  TemporaryFolder() { EXPECT_NE(mkdtemp(path_), nullptr); }
  ~TemporaryFolder() { rmdir(path_); }
  std::string file(const std::string& name) const { return std::string{path_} + "/" + name; }

 private:
  char path_[32] = "/tmp/http_server_test.XXXXXX";
};

}  // namespace coderunner
