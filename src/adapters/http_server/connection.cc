#include "adapters/http_server/connection.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <exception>
#include <utility>

#include "base/ensure.h"
#include "domain/limits.h"

namespace coderunner {
namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace {

constexpr std::size_t kReadBytes = 4096;
constexpr std::size_t kBeastMaxField = 65'533;  // beyond it basic_fields throws length_error
static_assert(limits::kMaxHeaderBytes < kBeastMaxField);
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

asio::generic::stream_protocol protocol_of(int socket) {
  sockaddr_storage self{};
  socklen_t length = sizeof self;
  ensure(getsockname(socket, reinterpret_cast<sockaddr*>(&self), &length) == 0,
         "a connection needs a socket");
  return {self.ss_family, 0};
}

// A header value that came from outside must not start a line of its own.
std::string one_line(std::string value) {
  for (char& c : value)
    if (static_cast<unsigned char>(c) < 0x20 && c != '\t') c = ' ';
  return value;
}

std::string lowered(std::string_view name) {
  std::string lower{name};
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

bool forbids_body(int status) { return status == 204 || status == 304 || status < 200; }

}  // namespace

HttpResponse error_answer(int status, std::string_view message) {
  HttpResponse response;
  response.status = status;
  response.headers = {{"Content-Type", "application/json"}};
  response.body =
      fmt::format(R"({{"error":{{"code":{},"message":"{}","details":{{}}}}}})", status, message);
  return response;
}

Connection::Connection(std::shared_ptr<asio::io_context> io, Descriptor socket,
                       const ConnectionRules& rules, Closed on_closed)
    : io_(std::move(io)),
      socket_(*io_),
      deadline_(*io_),
      rules_(rules),
      on_closed_(std::move(on_closed)),
      peer_(peer_of(socket.get())) {
  socket_.assign(protocol_of(socket.get()), socket.get());
  socket.release();
}

void Connection::serve() { await_request(); }

void Connection::refuse() { refuse_request(503, "too many connections"); }

void Connection::finish() {
  if (stage_ == Stage::idle)
    end(fail(Failure::unavailable, "stopped while idle"));
  else
    keep_alive_ = false;
}

void Connection::close_now() { end(fail(Failure::unavailable, "closed before the answer")); }

void Connection::await_request() {
  stage_ = Stage::idle;
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(limits::kMaxHeaderBytes));
  parser_->body_limit(rules_.max_body);
  keep_alive_ = !rules_.one_request;
  head_ = drain_after_ = false;
  ++request_number_;
  arm(rules_.request_timeout);
  if (buffer_.size() > 0) return read_header();
  buffer_.shrink_to_fit();
  socket_.async_read_some(buffer_.prepare(kReadBytes),
                          [self = shared_from_this()](Code error, std::size_t bytes) {
                            if (self->stage_ == Stage::closed) return;
                            if (error)
                              return self->end(fail(Failure::unavailable, error.message()));
                            self->buffer_.commit(bytes);
                            self->arm(self->rules_.request_timeout);
                            self->read_header();
                          });
}

void Connection::read_header() {
  stage_ = Stage::reading;
  http::async_read_header(
      socket_, buffer_, *parser_, [self = shared_from_this()](Code error, std::size_t) {
        if (self->stage_ == Stage::closed) return;
        if (error) return self->read_failed(error);
        const auto& head = self->parser_->get();
        self->version_ = head.version() == 10 ? 10 : 11;
        self->head_ = head.method() == http::verb::head;
        // Beast reads no body under a coding it does not know; the bytes would pass for a request.
        if (head.count(http::field::transfer_encoding) > 0 && !self->parser_->chunked())
          return self->refuse_request(501, "only the transfer coding chunked is understood");
        if (head.target().empty() || head.target().front() != '/')
          return self->refuse_request(400, "the request target must be a path");
        if (!boost::beast::iequals(head[http::field::expect], "100-continue") ||
            self->parser_->is_done())
          return self->read_body();
        asio::async_write(self->socket_, asio::buffer(kContinue), [self](Code failed, std::size_t) {
          if (self->stage_ == Stage::closed) return;
          if (failed) return self->end(fail(Failure::unavailable, failed.message()));
          self->read_body();
        });
      });
}

void Connection::read_body() {
  if (parser_->is_done()) return hand_over();
  http::async_read(socket_, buffer_, *parser_,
                   [self = shared_from_this()](Code error, std::size_t) {
                     if (self->stage_ == Stage::closed) return;
                     if (error) return self->read_failed(error);
                     self->hand_over();
                   });
}

void Connection::read_failed(Code error) {
  const bool bad_bytes =
      error.category() == http::make_error_code(http::error::bad_value).category();
  if (!bad_bytes || error == http::error::end_of_stream || error == http::error::partial_message)
    return end(fail(Failure::unavailable, error.message()));
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return refuse_request(
        431, fmt::format("{} over {} bytes",
                         parser_->is_header_done() ? "the trailers or a chunk's extension are"
                                                   : "the header is",
                         limits::kMaxHeaderBytes));
  if (error == http::error::body_limit)
    return refuse_request(413, fmt::format("the body is over {} bytes", rules_.max_body));
  refuse_request(400, fmt::format("malformed request: {}", error.message()));
}

HttpRequest Connection::take_request() {
  auto message = parser_->release();
  HttpRequest request;
  request.method = std::string{message.method_string()};
  const std::string_view target{message.target().data(), message.target().size()};
  const std::size_t mark = target.find('?');
  request.path = std::string{target.substr(0, mark)};
  if (mark != std::string_view::npos) request.query = std::string{target.substr(mark + 1)};
  for (const auto& field : message) {
    const auto name = field.name_string();
    const auto value = field.value();
    std::string& joined = request.headers[lowered({name.data(), name.size()})];
    if (!joined.empty()) joined += ", ";
    joined.append(value.data(), value.size());
  }
  request.body = std::move(message.body());
  request.peer = peer_;
  request.duplicate_connection = [socket = socket_.native_handle()] {
    return ::fcntl(socket, F_DUPFD_CLOEXEC, 0);
  };
  return request;
}

void Connection::hand_over() {
  keep_alive_ = keep_alive_ && parser_->get().keep_alive();
  HttpRespond respond = make_respond();
  stage_ = Stage::handling;
  ++deadline_number_;
  deadline_.cancel();
  try {
    rules_.handler(take_request(), respond);
  } catch (const std::exception&) {
    // A hostile request that finds such a bug gets an answer, not the whole process.
    respond(error_answer(500, "internal error"));
  }
}

HttpRespond Connection::make_respond() {
  // Weak: an answer that comes after stop() finds nobody and is dropped. The io_context is held
  // while posting, so that an answer racing with the server's destruction has somewhere to go.
  return [weak = weak_from_this(), io = std::weak_ptr{io_},
          number = request_number_](HttpResponse response) {
    const auto alive = io.lock();
    if (!alive) return;
    asio::post(*alive, [weak, number, given = std::move(response)]() mutable {
      const auto self = weak.lock();
      if (!self || self->stage_ != Stage::handling || self->request_number_ != number) return;
      self->answer(std::move(given));
    });
  };
}

void Connection::answer(HttpResponse response) {
  if (!response.drop_connection) return write(std::move(response));
  outcome_ = Done{};
  end(fail(Failure::unavailable, "dropped"));
}

void Connection::refuse_request(int status, std::string message) {
  keep_alive_ = false;
  drain_after_ = true;
  HttpResponse response = error_answer(status, message);
  outcome_ =
      fail(status == 503 ? Failure::unavailable : Failure::invalid_input, std::move(message));
  write(std::move(response));
}

void Connection::write(HttpResponse response) {
  ensure(response.status >= 200 && response.status <= 599, "an answer's status is 200 to 599");
  stage_ = Stage::writing;
  arm(rules_.request_timeout);
  response_.emplace();
  response_->version(version_);
  response_->result(static_cast<unsigned>(response.status));
  for (auto& [name, value] : response.headers) response_->insert(name, one_line(std::move(value)));
  if (rules_.clock != nullptr)
    response_->set(http::field::date, to_http_date(rules_.clock->utc_now()));
  if (!boost::beast::http::token_list{(*response_)[http::field::connection]}.exists("close"))
    response_->keep_alive(keep_alive_);
  else
    keep_alive_ = false;
  if (!forbids_body(response.status)) {
    response_->content_length(response.body.size());
    if (!head_) response_->body() = std::move(response.body);
  }
  http::async_write(socket_, *response_, [self = shared_from_this()](Code error, std::size_t) {
    if (self->stage_ != Stage::closed) self->written(error);
  });
}

void Connection::written(Code error) {
  if (error) return end(fail(Failure::unavailable, error.message()));
  response_.reset();
  if (!drain_after_) outcome_ = Done{};
  if (keep_alive_) return await_request();
  Code ignored;
  socket_.shutdown(asio::socket_base::shutdown_send, ignored);
  if (!drain_after_) return end(fail(Failure::unavailable, "closed"));
  // Closing over unread bytes resets the connection, and the client may lose the answer it has not
  // read yet. So read on for a while.
  arm(limits::kDrainTime);
  stage_ = Stage::draining;
  buffer_.clear();
  drain();
}

void Connection::drain() {
  socket_.async_read_some(buffer_.prepare(buffer_.max_size()),
                          [self = shared_from_this()](Code error, std::size_t bytes) {
                            if (self->stage_ == Stage::closed) return;
                            self->drained_ += bytes;
                            if (error || self->drained_ >= limits::kDrainBytes)
                              return self->end(fail(Failure::unavailable, "closed"));
                            self->drain();
                          });
}

void Connection::end(Error why) {
  if (stage_ == Stage::closed) return;
  const auto self = shared_from_this();  // on_closed_ may drop the last owner
  if (stage_ != Stage::draining && !outcome_) outcome_ = std::move(why);
  stage_ = Stage::closed;
  deadline_.cancel();
  Code ignored;
  socket_.close(ignored);
  if (on_closed_) std::exchange(on_closed_, nullptr)(*this);
}

void Connection::arm(Millis limit) {
  deadline_.expires_after(limit);
  deadline_.async_wait([weak = weak_from_this(), number = ++deadline_number_](Code error) {
    const auto self = weak.lock();
    if (error || !self || self->deadline_number_ != number) return;
    self->end(fail(Failure::unavailable, "the request or its answer took too long"));
  });
}

}  // namespace coderunner
