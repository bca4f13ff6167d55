// One connection of the HTTP server, from its first byte to its last: reads requests, enforces
// deadline and limits, writes answers. Used by http_server.cc only. Lives on the thread that runs
// its io_context; only a Respond is called from elsewhere. Never blocks, never outlives its socket.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "adapters/http_server/http.h"
#include "adapters/http_server/listen_socket.h"
#include "base/result.h"
#include "base/time.h"
#include "domain/limits.h"
#include "seams/clock.h"

namespace coderunner {

struct ConnectionRules {
  std::size_t max_body = 0;
  Millis request_timeout{0};     // of a request's bytes, of an idle wait, of an answer's bytes
  bool one_request = false;      // close after the first answer
  const Clock* clock = nullptr;  // for the Date header; none without
  HttpHandler handler;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Closed = std::function<void(Connection&)>;

  // Takes the connected socket over. `rules` is shared by all connections and outlives them;
  // `on_closed` is called once, on the io_context's thread.
  Connection(std::shared_ptr<boost::asio::io_context> io, Descriptor socket,
             const ConnectionRules& rules, Closed on_closed);

  // Each is called on the io_context's thread.
  void serve();
  void refuse();  // says 503 and closes
  void finish();  // closes now if idle, else after the answer in progress
  void close_now();

  bool is_handling() const { return stage_ == Stage::handling; }  // until the answer is given

  // Done once the handler's answer has been written; before that, why it was not.
  const Result<Done>& outcome() const { return outcome_; }

 private:
  using Code = boost::system::error_code;
  using Body = boost::beast::http::string_body;
  enum class Stage { idle, reading, handling, writing, draining, closed };

  void await_request();
  void read_header();
  void read_body();
  void read_failed(Code error);
  void hand_over();
  void answer(HttpResponse response);
  void refuse_request(int status, std::string message);
  void write(HttpResponse response);
  void written(Code error);
  void drain();
  void end(Error why);
  void arm(Millis limit);
  HttpRespond make_respond();
  HttpRequest take_request();

  std::shared_ptr<boost::asio::io_context> io_;  // first: everything below belongs to it
  boost::asio::generic::stream_protocol::socket socket_;
  boost::asio::steady_timer deadline_;
  const ConnectionRules& rules_;
  Closed on_closed_;
  std::string peer_;

  Stage stage_ = Stage::idle;
  std::uint64_t deadline_number_ = 0;  // which arm() a fired timer belongs to
  std::uint64_t request_number_ = 0;   // which request a Respond belongs to
  bool keep_alive_ = false;
  bool head_ = false;
  bool drain_after_ = false;  // the request was not read to its end
  unsigned version_ = 11;
  std::size_t drained_ = 0;
  // What must lie in it whole, for Beast, is a header, a chunk's extension or the trailers: this
  // bounds them all, and a field stays under the 64 KiB at which Beast throws.
  boost::beast::flat_buffer buffer_{limits::kMaxHeaderBytes};
  std::optional<boost::beast::http::request_parser<Body>> parser_;
  std::optional<boost::beast::http::response<Body>> response_;
  Result<Done> outcome_ = fail(Failure::unavailable, "the connection ended before a request");
};

// The error answer of contract section 2, for what the server itself refuses.
HttpResponse error_answer(int status, std::string_view message);

}  // namespace coderunner
