#include "executor/lua_check.h"

#include <charconv>
#include <lua.hpp>

#include "base/text.h"
#include "domain/limits.h"
#include "executor/lua_state.h"

namespace coderunner::executor {
namespace {

constexpr std::string_view kPosition = "script:";

// "script:3: unexpected symbol near 'x'"
SyntaxError split_position(std::string text) {
  SyntaxError error{1, std::move(text)};
  if (!error.message.starts_with(kPosition)) return error;
  const char* begin = error.message.data() + kPosition.size();
  const char* end = error.message.data() + error.message.size();
  const auto [after, problem] = std::from_chars(begin, end, error.line);
  if (problem != std::errc{} || end - after < 2 || after[0] != ':') return error;
  error.message.erase(0, static_cast<std::size_t>(after + 2 - error.message.data()));
  return error;
}

}  // namespace

std::optional<SyntaxError> LuaCheck::check(std::string_view source) const {
  LuaMemory memory{limits::kScriptMemory, 0};
  const LuaState state = new_lua_state(memory);
  if (!state) return SyntaxError{1, "not enough memory to parse it"};
  // Loading raises nothing itself: its status tells, and the message is on the stack.
  if (luaL_loadbufferx(state.get(), source.data(), source.size(), "=script", "t") == LUA_OK)
    return std::nullopt;
  std::size_t length = 0;
  const char* message = lua_tolstring(state.get(), -1, &length);
  return split_position(
      clamp_utf8(replace_invalid_utf8({message, length}), limits::kMaxErrorMessageBytes));
}

}  // namespace coderunner::executor
