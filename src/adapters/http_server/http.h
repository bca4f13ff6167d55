// An HTTP request and its answer as values, for whoever serves or is served: routes, the executor's
// worker, the fake API. Knows no Beast: the server behind it is http_server.cc's business.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace coderunner {

struct HttpRequest {
  std::string method;  // upper case
  std::string path;    // percent-encoded as received, without the query
  std::string query;   // without the question mark
  std::map<std::string, std::string>
      headers;  // names in lower case; a repeated header is joined with ", "
  std::string body;
  std::string peer;  // "127.0.0.1:40112" or "unix"
  // While the handler is called, on its thread: one more descriptor of this connection, the
  // caller's to close, never to read or write. It tells (POLLRDHUP) when the client has gone. -1
  // where there is none left. Empty where there is no connection.
  std::function<int()> duplicate_connection = {};

  // The header's value, empty where it was not sent. `name` in lower case.
  std::string_view header(std::string_view name) const {
    const auto found = headers.find(std::string{name});
    return found == headers.end() ? std::string_view{} : std::string_view{found->second};
  }
};

struct HttpResponse {
  int status = 200;
  std::vector<std::pair<std::string, std::string>>
      headers;  // Content-Length and Date are the server's
  std::string body;
  bool drop_connection = false;  // close without any answer (the fake API's resets)
};

using HttpRespond = std::function<void(HttpResponse)>;  // once, from any thread
// Called on an I/O thread: must not block. An answer that is never given holds the connection open.
using HttpHandler = std::function<void(HttpRequest, HttpRespond)>;

// application/x-www-form-urlencoded or a query string, decoded; nullopt on a malformed escape.
std::optional<std::vector<std::pair<std::string, std::string>>> parse_form(std::string_view text);
std::string percent_encode(std::string_view text);
// "Mon, 24 Aug 2026 12:08:00 GMT", cut to the second.
std::string to_http_date(UtcTime at);

}  // namespace coderunner
