// What `serve` and a worker of the test lane (contract section 2) say to each other, as values and
// as the frames between them: one request, then TestStarted, log lines as they come, and the
// outcome; or one TestRefused. The request holds an API key: it goes from memory to memory over a
// socket pair and is written nowhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/ids.h"
#include "base/result.h"
#include "domain/execution.h"

namespace coderunner::executor {

struct TestRequest {
  std::string account;
  std::string api_key;
  ApiKeyHash key;  // of api_key, for its gate: the worker has no salt
  std::string source;
  std::optional<std::string> payload;  // a JSON text
  std::optional<std::string> identifier;
  bool debug = false;
  friend bool operator==(const TestRequest&, const TestRequest&) = default;
};

struct TestStarted {  // before it nothing has run
  friend bool operator==(const TestStarted&, const TestStarted&) = default;
};
struct TestRefused {  // and nothing will
  std::string why;
  friend bool operator==(const TestRefused&, const TestRefused&) = default;
};
using FromTest = std::variant<TestStarted, TestRefused, LogLine, Outcome>;

std::string test_request_json(const TestRequest& request);
std::string from_test_json(const FromTest& said);

// corrupt on anything else than what the two above write.
Result<TestRequest> parse_test_request(std::string_view json);
Result<FromTest> parse_from_test(std::string_view json);

// The word of whoever has no place for a run; its one small frame never waits.
void refuse_test(int socket, const std::string& why);

}  // namespace coderunner::executor
