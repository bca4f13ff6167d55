#include "executor/lua_check.h"

#include <algorithm>
#include <charconv>
#include <lua.hpp>

#include "base/text.h"
#include "domain/limits.h"
#include "executor/lua_state.h"

namespace coderunner::executor {
namespace {

constexpr std::string_view kPosition = "script:";
constexpr std::string_view kGoto = "goto";

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

// Lua matches gotos to labels by searching: the time grows with their product, and a parse can not
// be interrupted.
std::optional<SyntaxError> too_many_gotos(std::string_view source) {
  std::size_t count = 0;
  for (std::size_t at = source.find(kGoto); at != std::string_view::npos;
       at = source.find(kGoto, at + kGoto.size()))
    if (++count > limits::kMaxGotos) {
      const auto line =
          std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n');
      return SyntaxError{static_cast<int>(line) + 1, "more gotos than a script may have (1000)"};
    }
  return std::nullopt;
}

// Hands a source to the parser in small pieces, so that one which takes too long (a name looked up
// through ninety nested functions of two hundred locals) is stopped between two of them.
class TimedReader {
 public:
  TimedReader(std::string_view source, const Clock& clock)
      : rest_(source), clock_(clock), until_(clock.mono_now() + limits::kMaxParse) {}

  static const char* next(lua_State* state, void* reader, std::size_t* size) {
    return static_cast<TimedReader*>(reader)->next(state, *size);
  }
  bool is_too_late() const { return is_too_late_; }
  int line() const { return line_; }

 private:
  static constexpr std::size_t kPieceBytes = 64;

  const char* next(lua_State* state, std::size_t& size) {
    is_too_late_ = clock_.mono_now() >= until_;
    if (is_too_late_) luaL_error(state, "it takes too long");
    const std::string_view piece = rest_.substr(0, kPieceBytes);
    rest_.remove_prefix(piece.size());
    line_ += static_cast<int>(std::count(piece.begin(), piece.end(), '\n'));
    size = piece.size();
    return piece.data();
  }

  std::string_view rest_;
  const Clock& clock_;
  MonoTime until_;
  int line_ = 1;
  bool is_too_late_ = false;
};

}  // namespace

std::optional<SyntaxError> LuaCheck::check(std::string_view source) const {
  if (auto error = too_many_gotos(source)) return error;
  LuaMemory memory{limits::kScriptMemory, 0};
  const LuaState state = new_lua_state(memory);
  if (!state) return SyntaxError{1, "not enough memory to parse it"};
  // Loading raises nothing itself: its status tells, and the message is on the stack.
  TimedReader reader{source, clock_};
  if (lua_load(state.get(), &TimedReader::next, &reader, "=script", "t") == LUA_OK)
    return std::nullopt;
  if (reader.is_too_late())
    return SyntaxError{reader.line(), "parsing it takes too long; the time was used up here"};
  std::size_t length = 0;
  const char* message = lua_tolstring(state.get(), -1, &length);
  return split_position(
      clamp_utf8(replace_invalid_utf8({message, length}), limits::kMaxErrorMessageBytes));
}

}  // namespace coderunner::executor
