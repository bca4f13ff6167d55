#include "executor/lua_state.h"

#include <fmt/format.h>

#include <cstdlib>
#include <lua.hpp>

#include "base/text.h"

namespace coderunner::executor {
namespace {

void* allocate(void* context, void* block, std::size_t old_size, std::size_t new_size) {
  auto& memory = *static_cast<LuaMemory*>(context);
  const std::size_t held = block == nullptr ? 0 : old_size;  // else old_size is a type's number
  if (new_size == 0) {
    std::free(block);
    memory.used -= held;
    return nullptr;
  }
  // Lua assumes that shrinking never fails.
  if (new_size > held && memory.used - held + new_size > memory.cap) return nullptr;
  void* moved = std::realloc(block, new_size);
  if (moved != nullptr) memory.used = memory.used - held + new_size;
  return moved;
}

}  // namespace

void LuaStateCloser::operator()(lua_State* state) const { lua_close(state); }

LuaState new_lua_state(LuaMemory& memory) { return LuaState{lua_newstate(allocate, &memory)}; }

void attach(lua_State* state, RunningScript& script) {
  *static_cast<RunningScript**>(lua_getextraspace(state)) = &script;
}

RunningScript& running_script(lua_State* state) {
  return **static_cast<RunningScript**>(lua_getextraspace(state));
}

void hook_budget(lua_State* state, int instructions) {
  lua_sethook(
      state, [](lua_State* running, lua_Debug*) { spend_budget(running); }, LUA_MASKCOUNT,
      instructions);
}

void spend_budget(lua_State* state) {
  LoopBudget& budget = running_script(state).budget;
  if (!budget.has_fired && !budget.is_used_up()) return;
  if (!budget.has_fired) budget.fired_at = script_place(state);
  budget.has_fired = true;
  hook_budget(state, 1);
  luaL_error(state, "the loop budget is used up");
}

std::string script_place(lua_State* state) {
  lua_Debug frame;
  for (int level = 0; lua_getstack(state, level, &frame) != 0; ++level) {
    lua_getinfo(state, "Sl", &frame);
    if (frame.currentline > 0 && std::string_view{frame.source} == kScriptChunk)
      return fmt::format("{}:{}: ", frame.short_src, frame.currentline);
  }
  return {};
}

void raise(lua_State* state, std::string_view message) {
  const std::string text = script_place(state).append(message);
  lua_pushlstring(state, text.data(), text.size());
  lua_error(state);
  std::abort();  // lua_error is declared as if it could return
}

std::string text_of(lua_State* state, int index, std::size_t max_bytes) {
  std::size_t length = 0;
  const char* bytes = luaL_tolstring(state, index, &length);
  std::string text = replace_invalid_utf8({bytes, std::min(length, max_bytes)});
  lua_pop(state, 1);
  return clamp_utf8(text, max_bytes);
}

}  // namespace coderunner::executor
