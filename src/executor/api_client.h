// One attempt of one API call, behind an abstract class so that the broker can be tried without a
// network. Implemented by curl_api_client; used by the broker only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "executor/run_watch.h"

namespace coderunner::executor {

struct ApiRequest {
  std::string method;
  std::string path;  // checked by refuse_path()
  std::optional<std::string> body;
  MonoTime until{};  // the attempt's end, whatever has arrived by then
};

struct ApiAnswer {
  std::optional<int> status;  // absent: no complete answer; the effect may have happened
  std::string body;
  std::vector<std::string> retry_after;  // the text of each such header
  std::optional<std::string> date;       // the Date header
  std::optional<int> remaining;          // X-RateLimit-PerMinute-Remaining
  std::string problem;                   // why there is no complete answer, for people
  bool never_sent = false;               // proved: no connection was made
  bool is_too_large = false;             // cut off at limits::kMaxApiAnswerBytes
  std::optional<RunEnd> ended;           // the run ended meanwhile: the attempt was dropped
};

class ApiClient {
 public:
  virtual ~ApiClient() = default;
  // Blocks until an answer, `until` or an end told by the watch.
  virtual ApiAnswer perform(const ApiRequest& request, RunWatch& watch) = 0;
  // Why no call of this run can be made at all; nothing is announced or sent then.
  virtual std::optional<std::string> why_unusable() const { return std::nullopt; }
};

// Stands in where the calls of a run can not be made at all; the script is told at its first one.
class UnusableApi final : public ApiClient {
 public:
  explicit UnusableApi(std::string why) : why_(std::move(why)) {}
  ApiAnswer perform(const ApiRequest&, RunWatch&) override { return {}; }
  std::optional<std::string> why_unusable() const override { return why_; }

 private:
  std::string why_;
};

// Why a script's path must not be appended to its account's base address; nullopt where it may. It
// starts with one '/', stays below the base (no "." or ".." segment in any spelling) and is plain
// printable ASCII.
std::optional<std::string> refuse_path(std::string_view path);

// What an error document says (facts 1.3, 1.4): {"error":{"code","message","details"}}. Lenient:
// anything else is just absent.
struct ApiErrorDocument {
  std::optional<std::string> code;
  std::optional<std::string> message;
  std::optional<double> retry_after;  // error.details.retry_after, else error.retry_after
  std::optional<std::string> detail;  // the first entry of error.details that is a text
};
ApiErrorDocument read_error_document(std::string_view body);

}  // namespace coderunner::executor
