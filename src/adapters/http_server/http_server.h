// The HTTP server (Boost.Beast behind it). Composed by app/ and the fake API. Never blocks on its
// own threads, cuts a request that takes longer than request_timeout to arrive, answers 413 itself
// and lets the client read it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "adapters/http_server/http.h"
#include "base/result.h"
#include "base/time.h"
#include "domain/limits.h"
#include "seams/clock.h"

namespace coderunner {

struct HttpServerOptions {
  std::string listen =
      "127.0.0.1:8080";  // "HOST:PORT", "[::1]:PORT" or "unix:PATH"; port 0: the kernel picks
  std::size_t max_body = limits::kMaxBody;
  Millis request_timeout = limits::kRequestTimeout;
  int max_connections = limits::kMaxConnections;  // beyond: 503 and closed
  int threads = 1;                                // one io_context each
  const Clock* clock = nullptr;  // for the Date header, outlives the server; no header without
};

class HttpServer {
 public:
  virtual ~HttpServer() = default;  // stop()s
  // The address clients use, with the port the kernel picked: "127.0.0.1:40112" or "unix:PATH".
  virtual const std::string& address() const = 0;
  // Closes the listener; idle connections are closed, requests already read are answered until
  // `grace` has passed.
  virtual void stop(Millis grace) = 0;
};

// unavailable where the address can not be bound; the message names it.
Result<std::unique_ptr<HttpServer>> start_http_server(const HttpServerOptions& options,
                                                      HttpHandler handler);

struct OneRequestLimits {
  std::size_t max_body = limits::kMaxBody;
  Millis request_timeout = limits::kRequestTimeout;
};

// Serves exactly one request on an accepted, connected socket (taken over and closed), on the
// calling thread.
Result<Done> answer_one_request(int socket, const OneRequestLimits& limits,
                                const std::function<HttpResponse(const HttpRequest&)>& handler);

}  // namespace coderunner
