#include "executor/lua_host.h"

#include <fmt/format.h>

#include <array>
#include <lua.hpp>

#include "base/text.h"
#include "domain/limits.h"
#include "executor/lua_api.h"
#include "executor/lua_json.h"
#include "executor/lua_state.h"
#include "executor/lua_suggestion.h"

namespace coderunner::executor {
namespace {

int log(lua_State* state) {
  spend_budget(state);
  RunningScript& script = running_script(state);
  // Its broker has cut the log by now: what follows is dropped here, on the script's own time.
  if (script.logged > limits::kMaxLogBytesPerRun) return 0;
  constexpr std::size_t kEnough = limits::kMaxLogLineBytes + 16;  // so that the cut is seen below
  std::string line;
  for (int at = 1; at <= lua_gettop(state) && line.size() < kEnough; ++at) {
    if (at > 1) line += '\t';
    line += text_of(state, at, kEnough);
  }
  line = clamp_utf8(line, limits::kMaxLogLineBytes, " [cut]");
  script.logged += line.size() + limits::kLogLineOverhead;
  script.budget.without([&] {
    script.port.log(std::move(line));
    return 0;
  });
  return 0;
}

// Lua calls no hook inside finalizers, so a __gc could loop for ever.
int set_metatable(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  const int kind = lua_type(state, 2);
  luaL_argexpected(state, kind == LUA_TNIL || kind == LUA_TTABLE, 2, "nil or table");
  if (luaL_getmetafield(state, 1, "__metatable") != LUA_TNIL)
    return luaL_error(state, "cannot change a protected metatable");
  if (kind == LUA_TTABLE) {
    lua_pushliteral(state, "__gc");
    if (lua_rawget(state, 2) != LUA_TNIL)
      return luaL_error(state, "a metatable with __gc is not allowed");
  }
  lua_settop(state, 2);
  lua_setmetatable(state, 1);
  return 1;
}

// Lua's own calls the handler before it unwinds, with the hook switched off where the hook raised
// the error: a loop in there would never end. This one unwinds first.
int protected_call_with_handler(lua_State* state) {
  luaL_checkany(state, 1);
  luaL_checktype(state, 2, LUA_TFUNCTION);
  lua_pushvalue(state, 2);
  lua_insert(state, 1);
  lua_remove(state, 3);  // handler, function, arguments...
  const int status = lua_pcall(state, lua_gettop(state) - 2, LUA_MULTRET, 0);
  if (status == LUA_OK) {
    lua_pushboolean(state, 1);
    lua_replace(state, 1);
    return lua_gettop(state);
  }
  lua_pcall(state, 1, 1, 0);  // the handler's own error takes the place of its answer
  lua_pushboolean(state, 0);
  lua_insert(state, 1);
  return 2;
}

// Lua's own finds out in its iterator, which is all C: that error names no line.
int pairs_of_list(lua_State* state) {
  const int kind = lua_type(state, 1);
  if (kind == LUA_TNONE || kind == LUA_TNIL || kind == LUA_TBOOLEAN || kind == LUA_TNUMBER ||
      kind == LUA_TFUNCTION)
    raise(state,
          fmt::format("bad argument #1 to 'ipairs' (table expected, got {}){}",
                      luaL_typename(state, 1),
                      kind == LUA_TFUNCTION ? "; a loop over api.cards takes no ipairs" : ""));
  const int count = lua_gettop(state);
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_insert(state, 1);
  lua_call(state, count, LUA_MULTRET);
  return lua_gettop(state);
}

void open_libraries(lua_State* state) {
  constexpr std::array<luaL_Reg, 5> kLibraries{{{LUA_GNAME, luaopen_base},
                                                {LUA_STRLIBNAME, luaopen_string},
                                                {LUA_TABLIBNAME, luaopen_table},
                                                {LUA_MATHLIBNAME, luaopen_math},
                                                {LUA_UTF8LIBNAME, luaopen_utf8}}};
  for (const luaL_Reg& library : kLibraries) {
    luaL_requiref(state, library.name, library.func, 1);
    lua_pop(state, 1);
  }
  for (const char* gone : {"load", "loadfile", "dofile", "collectgarbage", "warn"}) {
    lua_pushnil(state);
    lua_setglobal(state, gone);
  }
  lua_getglobal(state, LUA_STRLIBNAME);
  lua_pushnil(state);
  lua_setfield(state, -2, "dump");
  lua_pop(state, 1);

  lua_getglobal(state, "ipairs");
  lua_pushcclosure(state, pairs_of_list, 1);
  lua_setglobal(state, "ipairs");
  lua_register(state, "setmetatable", set_metatable);
  lua_register(state, "xpcall", protected_call_with_handler);
  lua_register(state, "log", log);
  lua_register(state, "print", log);
}

void set_globals(lua_State* state, const ScriptStart& start) {
  open_json(state);
  open_api(state);
  if (!start.payload)
    lua_newtable(state);  // `event.card_id` is nil, not an error, where nothing was sent
  else if (!push_json(state, *start.payload))
    luaL_error(state, "the payload is %s", lua_tostring(state, -1));
  lua_setglobal(state, "event");

  lua_newtable(state);
  lua_pushinteger(state, start.execution.value);
  lua_setfield(state, -2, "id");
  if (start.identifier) {
    lua_pushlstring(state, start.identifier->data(), start.identifier->size());
    lua_setfield(state, -2, "identifier");
  }
  lua_setglobal(state, "execution");
}

struct Body {
  const ScriptStart& start;
  bool does_not_parse = false;
};

// Everything that may raise, under one protected call.
int run_body(lua_State* state) {
  auto& body = *static_cast<Body*>(lua_touserdata(state, 1));
  lua_settop(state, 0);
  open_libraries(state);
  set_globals(state, body.start);
  const std::string& source = body.start.source;
  const int loaded = luaL_loadbufferx(state, source.data(), source.size(), kScriptChunk, "t");
  body.does_not_parse = loaded == LUA_ERRSYNTAX;
  if (loaded != LUA_OK) return lua_error(state);
  hook_budget(state, kInstructionsPerCheck);
  lua_call(state, 0, 0);
  return 0;
}

// Lua would show these by their address, which tells the reader nothing and a stranger too much.
bool shows_as_address(lua_State* state, int index) {
  const int type = lua_type(state, index);
  if (type != LUA_TTABLE && type != LUA_TFUNCTION && type != LUA_TUSERDATA) return false;
  const bool has_text = luaL_getmetafield(state, index, "__tostring") != LUA_TNIL;
  if (has_text) lua_pop(state, 1);
  return !has_text;
}

struct ErrorText {
  const std::string& source;
  std::string message;
};

// The error object at index 1 as text; its __tostring is the script's own code.
int describe_error(lua_State* state) {
  auto& [source, message] = *static_cast<ErrorText*>(lua_touserdata(state, 2));
  message = shows_as_address(state, 1) ? fmt::format("an error of type {}", luaL_typename(state, 1))
                                       : text_of(state, 1, limits::kMaxErrorMessageBytes);
  push_api(state);
  if (lua_istable(state, -1)) message += api_suggestion(state, message, source);
  message = clamp_utf8(message, limits::kMaxErrorMessageBytes);
  return 0;
}

std::string error_message(lua_State* state, const std::string& source) {
  ErrorText text{source, {}};
  lua_pushcfunction(state, describe_error);
  lua_insert(state, -2);
  lua_pushlightuserdata(state, &text);
  const bool is_shown = lua_pcall(state, 2, 0, 0) == LUA_OK || !text.message.empty();
  return is_shown ? text.message : "an error that can not be shown";
}

std::string size_text(std::size_t bytes) {
  constexpr std::size_t kMiB = 1024UL * 1024;
  return bytes % kMiB == 0 ? fmt::format("{}MiB", bytes / kMiB) : fmt::format("{} bytes", bytes);
}

}  // namespace

ScriptEnd run_script(const ScriptStart& start, const ScriptHost& host) {
  LuaMemory memory{host.limits.memory, 0};
  LoopBudget budget{host.limits.loop_budget, host.clock};
  RunningScript script{host.port, budget};
  const auto out_of_memory = [&] {
    return ScriptEnd{ScriptVerdict::memory, fmt::format("the script needs more than {} of memory",
                                                        size_text(host.limits.memory))};
  };
  const LuaState owner = new_lua_state(memory);
  if (!owner) return out_of_memory();
  lua_State* state = owner.get();
  attach(state, script);

  Body body{start};
  lua_pushcfunction(state, run_body);
  lua_pushlightuserdata(state, &body);
  const int status = lua_pcall(state, 1, 0, 0);
  if (budget.has_fired)
    return {ScriptVerdict::loop_budget,
            fmt::format("{}the script's own code ran longer than {}", budget.fired_at,
                        format_duration(host.limits.loop_budget))};
  if (status == LUA_OK) return {};
  // Below zero: an exception that is none of Lua's, and nothing here throws any but bad_alloc.
  if (status == LUA_ERRMEM || status < LUA_OK) return out_of_memory();
  std::string message = error_message(state, start.source);
  if (budget.has_fired)
    return {ScriptVerdict::loop_budget,
            budget.fired_at + "the loop budget is used up while showing an error"};
  return {body.does_not_parse ? ScriptVerdict::syntax_error : ScriptVerdict::error,
          std::move(message)};
}

}  // namespace coderunner::executor
