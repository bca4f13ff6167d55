// What a script process and its broker say to each other, as values and as JSON texts. The worker's
// side must take anything at all from a script: whatever is not exactly one of these is a protocol
// violation.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/ids.h"
#include "base/result.h"

namespace coderunner::executor {

// script -> worker, the first frame: this text, or why there will be no script.
inline constexpr std::string_view kScriptReady = "ready";

// worker -> script, once
struct ScriptStart {
  ExecutionId execution;
  std::string source;
  std::optional<std::string> payload;  // a JSON text
  std::optional<std::string> identifier;
  friend bool operator==(const ScriptStart&, const ScriptStart&) = default;
};

// script -> worker
struct ScriptLog {
  std::string message;
  friend bool operator==(const ScriptLog&, const ScriptLog&) = default;
};
struct ScriptCall {
  std::string method;  // "GET", "POST", "PUT", "PATCH", "DELETE"
  std::string path;
  std::optional<std::string> body;  // a JSON text
  friend bool operator==(const ScriptCall&, const ScriptCall&) = default;
};
enum class ScriptVerdict { success, syntax_error, error, loop_budget, memory };
struct ScriptEnd {
  ScriptVerdict verdict = ScriptVerdict::success;
  std::string message;
  friend bool operator==(const ScriptEnd&, const ScriptEnd&) = default;
};
using FromScript = std::variant<ScriptLog, ScriptCall, ScriptEnd>;

// worker -> script, after each ScriptCall
struct CallResult {
  int status = 200;
  std::optional<std::string> body;  // a JSON text; absent where the answer had none
  friend bool operator==(const CallResult&, const CallResult&) = default;
};
struct CallError {
  std::optional<int> status;        // of the last answer, where there was one
  std::optional<std::string> code;  // of the API's error document
  std::string message;
  friend bool operator==(const CallError&, const CallError&) = default;
};
using CallAnswer = std::variant<CallResult, CallError>;

// Malformed UTF-8 becomes U+FFFD on the way.
std::string to_json(const ScriptStart& start);
std::string to_json(const FromScript& said);
std::string to_json(const CallAnswer& answer);

// corrupt on anything else than what to_json writes.
Result<ScriptStart> parse_script_start(std::string_view json);
Result<FromScript> parse_from_script(std::string_view json);
Result<CallAnswer> parse_call_answer(std::string_view json);

}  // namespace coderunner::executor
