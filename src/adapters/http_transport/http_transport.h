// The drainer's calls to an executor over HTTP (libcurl multi behind it). Composed by app/, driven
// by the drainer's thread: start, wait, poll. A fresh connection per dispatch, no proxy, no
// redirect; never re-sends, never blocks but in wait(). Only wake() may come from another thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "domain/limits.h"
#include "seams/transport.h"

namespace coderunner {

struct HttpTransportOptions {
  std::string url;          // http:// or https://, the whole path included
  std::string unix_socket;  // a path: connect there instead, `url` then gives the path and Host
  Millis timeout{0};        // of one dispatch, connecting included: doubtful_after() and some slack
  Millis connect_timeout = limits::kDispatchConnectTimeout;
};

class HttpTransport final : public Transport {
 public:
  // A URL libcurl refuses shows as the error of every dispatch, all of them never sent.
  explicit HttpTransport(HttpTransportOptions options);
  ~HttpTransport() override;  // gives up what is outstanding, unanswered

  // Sends at once where the executor is on this machine; elsewhere as poll() finds it connected.
  void start(const Dispatch& dispatch) override;
  // The dispatches that have ended since the last call, each exactly once. `never_sent` where not
  // one byte of the request left this process.
  std::vector<DispatchAnswer> poll() override;

  // Returns when an outstanding dispatch may have moved, wake() was called (also before), or
  // `at_most` has passed. Moves nothing by itself: poll() does.
  void wait(Millis at_most);
  // Ends the present or the next wait(). Thread-safe.
  void wake();
  // Gives up every outstanding dispatch; poll() answers them as doubtful. The executor may go on.
  void cancel_all();

 private:
  class Calls;
  std::unique_ptr<Calls> calls_;
};

}  // namespace coderunner
