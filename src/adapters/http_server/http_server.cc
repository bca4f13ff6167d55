#include "adapters/http_server/http_server.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <exception>
#include <future>
#include <stdexcept>
#include <thread>
#include <unordered_map>
#include <vector>

#include "adapters/http_server/connection.h"
#include "adapters/http_server/listen_socket.h"
#include "base/ensure.h"

namespace coderunner {
namespace asio = boost::asio;
namespace {

// One thread, its io_context and the connections that live on it.
class Lane {
 public:
  Lane(const ConnectionRules& rules, std::atomic<int>& open)
      : rules_(rules),
        open_(open),
        io_(std::make_shared<asio::io_context>(1)),
        work_(asio::make_work_guard(*io_)),
        grace_timer_(*io_),
        thread_([this] { run(); }) {}
  ~Lane() {
    if (!thread_.joinable()) return;  // else the server was never finished
    begin_stop(Millis{0});
    join();
  }

  asio::io_context& io() { return *io_; }

  void take(Descriptor socket, bool refuse) {
    asio::post(*io_, [this, socket = std::move(socket), refuse]() mutable {
      if (stopping_) {
        --open_;
        return;
      }
      begin(std::move(socket), refuse);
    });
  }

  void begin_stop(Millis grace) {
    asio::post(*io_, [this, grace] {
      stopping_ = true;
      for (const auto& connection : all()) connection->finish();
      grace_timer_.expires_after(grace);
      grace_timer_.async_wait([this](boost::system::error_code error) {
        if (error) return;
        for (const auto& connection : all()) connection->close_now();
      });
      leave_when_empty();
    });
  }

  void join() { thread_.join(); }

 private:
  // Whatever is thrown here was provoked by one connection, and must not take the others with it.
  void run() {
    for (bool thrown = false;;) {
      try {
        if (std::exchange(thrown, false)) close_stranded();
        io_->run();
        return;
      } catch (const std::exception&) {
        thrown = true;
      }
    }
  }

  // A pending read or write owns its connection, and an exception destroys it. What nothing but
  // the list owns then waits for nothing.
  void close_stranded() {
    std::vector<std::shared_ptr<Connection>> stranded;
    for (const auto& [_, connection] : connections_)
      if (connection.use_count() == 1 && !connection->is_handling()) stranded.push_back(connection);
    for (const auto& connection : stranded) connection->close_now();
  }

  void begin(Descriptor socket, bool refuse) {
    std::shared_ptr<Connection> connection;
    try {
      connection = std::make_shared<Connection>(io_, std::move(socket), rules_,
                                                [this](Connection& closed) { forget(closed); });
      connections_.emplace(connection.get(), connection);
    } catch (const std::exception&) {
      --open_;  // the kernel would not watch one more socket: that client is turned away
      return;
    }
    if (refuse)
      connection->refuse();
    else
      connection->serve();
  }

  std::vector<std::shared_ptr<Connection>> all() const {
    std::vector<std::shared_ptr<Connection>> list;
    for (const auto& entry : connections_) list.push_back(entry.second);
    return list;
  }

  void forget(Connection& closed) {
    connections_.erase(&closed);
    --open_;
    if (stopping_) leave_when_empty();
  }

  // run() returns once nothing is left to wait for.
  void leave_when_empty() {
    if (!connections_.empty()) return;
    grace_timer_.cancel();
    work_.reset();
  }

  const ConnectionRules& rules_;
  std::atomic<int>& open_;
  std::shared_ptr<asio::io_context> io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  asio::steady_timer grace_timer_;
  bool stopping_ = false;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
  std::thread thread_;
};

bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

class BeastServer final : public HttpServer {
 public:
  BeastServer(const HttpServerOptions& options, ListenSocket listen, HttpHandler handler)
      : rules_{options.max_body, options.request_timeout, false, options.clock, std::move(handler)},
        max_connections_(options.max_connections),
        address_(std::move(listen.address)),
        unix_path_(std::move(listen.unix_path)) {
    struct stat status {};
    if (!unix_path_.empty() && lstat(unix_path_.c_str(), &status) == 0) unix_inode_ = status.st_ino;
    for (int i = 0; i < options.threads; ++i)
      lanes_.push_back(std::make_unique<Lane>(rules_, open_));
    acceptor_.emplace(lanes_.front()->io(), listen.descriptor.release());
    pause_.emplace(lanes_.front()->io());
    asio::post(lanes_.front()->io(), [this] { await_connection(); });
  }
  ~BeastServer() override { stop(Millis{0}); }

  const std::string& address() const override { return address_; }

  void stop(Millis grace) override {
    if (std::exchange(stopped_, true)) return;
    std::promise<void> closed;
    asio::post(lanes_.front()->io(), [&] {
      pause_->cancel();
      boost::system::error_code ignored;
      acceptor_->close(ignored);
      remove_path();
      closed.set_value();
    });
    closed.get_future().wait();
    for (const auto& lane : lanes_) lane->begin_stop(grace);
    for (const auto& lane : lanes_) lane->join();
  }

 private:
  void await_connection() {
    acceptor_->async_wait(asio::posix::stream_descriptor::wait_read,
                          [this](boost::system::error_code error) {
                            if (error) return;
                            try {
                              accept_some();
                            } catch (const std::exception&) {
                              rest();  // out of memory: the listener must not fall silent
                            }
                          });
  }

  void rest() {
    pause_->expires_after(limits::kAcceptPause);
    pause_->async_wait([this](boost::system::error_code error) {
      if (!error) await_connection();
    });
  }

  void accept_some() {
    for (int count = 0; count < limits::kAcceptBurst; ++count) {
      Descriptor socket{
          accept4(acceptor_->native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
      if (socket.get() >= 0) {
        place(std::move(socket));
      } else if (is_shortage(errno)) {
        // The connection stays in the backlog, so the listener stays readable: trying again at
        // once would spin until somebody closes something.
        return rest();
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        break;
      }  // anything else ended that one connection before it began
    }
    await_connection();
  }

  void place(Descriptor socket) {
    const int open = open_.load();
    if (open >= max_connections_ + limits::kMaxRefusedConnections) return;
    const int on = 1;  // fails on a Unix socket, which needs none
    setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    lanes_[next_lane_]->take(std::move(socket), open >= max_connections_);
    ++open_;  // after what may throw; the lane may have counted it down already
    next_lane_ = (next_lane_ + 1) % lanes_.size();
  }

  // Only if it is still the socket this server bound: a successor may have replaced it.
  void remove_path() {
    struct stat status {};
    if (!unix_path_.empty() && lstat(unix_path_.c_str(), &status) == 0 &&
        status.st_ino == unix_inode_)
      unlink(unix_path_.c_str());
  }

  const ConnectionRules rules_;
  const int max_connections_;
  const std::string address_;
  const std::string unix_path_;
  ino_t unix_inode_ = 0;
  std::atomic<int> open_{0};
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::size_t next_lane_ = 0;
  std::optional<asio::posix::stream_descriptor> acceptor_;
  std::optional<asio::steady_timer> pause_;
  bool stopped_ = false;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> start_http_server(const HttpServerOptions& options,
                                                      HttpHandler handler) {
  ensure(options.threads > 0, "a server needs a thread");
  ensure(static_cast<bool>(handler), "a server needs a handler");
  auto listen = open_listen_socket(options.listen);
  if (!listen) return listen.error();
  try {
    return std::unique_ptr<HttpServer>{
        std::make_unique<BeastServer>(options, std::move(*listen), std::move(handler))};
  } catch (const std::runtime_error& error) {
    return fail(Failure::unavailable,
                fmt::format("cannot serve on {}: {}", options.listen, error.what()));
  }
}

Result<Done> answer_one_request(int socket, const OneRequestLimits& limits,
                                const std::function<HttpResponse(const HttpRequest&)>& handler) {
  const ConnectionRules rules{limits.max_body, limits.request_timeout, true, nullptr,
                              [&handler](const HttpRequest& request, const HttpRespond& respond) {
                                respond(handler(request));
                              }};
  Descriptor owned{socket};
  try {
    const auto io = std::make_shared<asio::io_context>(1);
    const auto connection =
        std::make_shared<Connection>(io, std::move(owned), rules, Connection::Closed{});
    connection->serve();
    io->run();
    return connection->outcome();
  } catch (const std::exception& error) {
    return fail(Failure::unavailable, fmt::format("cannot serve a request: {}", error.what()));
  }
}

}  // namespace coderunner
