// Whether a source parses, without running any of it. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace coderunner {

struct SyntaxError {
  int line = 1;
  std::string message;
  friend bool operator==(const SyntaxError&, const SyntaxError&) = default;
};

class ScriptCheck {
 public:
  virtual ~ScriptCheck() = default;
  virtual std::optional<SyntaxError> check(std::string_view source) const = 0;
};

}  // namespace coderunner
