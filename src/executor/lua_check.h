// Whether a source parses as Lua 5.4, for admission and `check`. Text chunks only; runs none of it.
// Thread-safe: each check has a state of its own.
#pragma once

#include "seams/script_check.h"

namespace coderunner::executor {

class LuaCheck final : public ScriptCheck {
 public:
  // The message is Lua's own, without the "script:LINE:" in front.
  std::optional<SyntaxError> check(std::string_view source) const override;
};

}  // namespace coderunner::executor
