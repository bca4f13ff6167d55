// Whether a source parses as Lua 5.4, for admission and `check`. Text chunks only; runs none of it.
// Thread-safe: each check has a state of its own. Gives up after limits::kMaxParse: what takes
// longer is refused as if it did not parse.
#pragma once

#include "seams/clock.h"
#include "seams/script_check.h"

namespace coderunner::executor {

class LuaCheck final : public ScriptCheck {
 public:
  explicit LuaCheck(const Clock& clock) : clock_(clock) {}
  // The message is Lua's own, without the "script:LINE:" in front.
  std::optional<SyntaxError> check(std::string_view source) const override;

 private:
  const Clock& clock_;
};

}  // namespace coderunner::executor
