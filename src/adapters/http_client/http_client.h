// A small blocking HTTP client for the commands that speak to a running server. Called by app/
// only, never by the daemon: it blocks until the answer is there. No proxy, no redirect.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "domain/limits.h"

namespace coderunner {

struct HttpClientOptions {
  std::string url;    // "http://HOST:PORT", "https://..." or "unix:PATH"; no slash at its end
  std::string token;  // sent as Authorization: Bearer; empty: none
  Millis connect_timeout = limits::kClientConnectTimeout;
  Millis timeout = limits::kClientTimeout;  // of one whole request
  std::size_t max_answer = limits::kMaxClientAnswerBytes;
};

struct ClientRequest {
  std::string method = "GET";
  std::string path;  // begins with a slash, encoded, with its query
  std::string json;  // the body of a POST
};

struct ClientAnswer {
  int status = 0;
  std::string body;
  friend bool operator==(const ClientAnswer&, const ClientAnswer&) = default;
};

class HttpClient {
 public:
  explicit HttpClient(HttpClientOptions options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Any complete answer is a value, whatever its status. unavailable: nothing was reached, nothing
  // happened; unknown_outcome: a POST went out and no complete answer came; internal: anything
  // else. One thread at a time.
  Result<ClientAnswer> send(const ClientRequest& request);

 private:
  struct Handle;
  HttpClientOptions options_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace coderunner
