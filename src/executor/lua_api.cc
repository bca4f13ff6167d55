#include "executor/lua_api.h"

#include <fmt/format.h>

#include <array>
#include <lua.hpp>

#include "domain/limits.h"
#include "executor/lua_json.h"
#include "executor/lua_state.h"

namespace coderunner::executor {
namespace {

constexpr const char* kErrorMetatable = "api.error";
constexpr std::size_t kMaxBodyBytes = limits::kMaxFrameBytes / 2;  // escapes grow it in the frame

void set_text(lua_State* state, const char* field, std::string_view text) {
  lua_pushlstring(state, text.data(), text.size());
  lua_setfield(state, -2, field);
}

int raise_api_error(lua_State* state, const ScriptCall& call, const CallError& error) {
  lua_settop(state, 0);
  lua_newtable(state);
  if (error.status) {
    lua_pushinteger(state, *error.status);
    lua_setfield(state, -2, "status");
  }
  if (error.code) set_text(state, "code", *error.code);
  set_text(state, "message", error.message);
  set_text(state, "method", call.method);
  set_text(state, "path", call.path);
  push_script_place(state);
  lua_setfield(state, -2, "where");
  luaL_setmetatable(state, kErrorMetatable);
  return lua_error(state);
}

std::string field_text(lua_State* state, const char* field) {
  lua_pushstring(state, field);
  lua_rawget(state, 1);
  std::string text =
      lua_isnil(state, -1) ? std::string{} : text_of(state, -1, limits::kMaxErrorMessageBytes);
  lua_pop(state, 1);
  return text;
}

// "script:3: GET /cards/7: API answered 404: C101 Card does not exist"
int error_to_text(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  const std::string text =
      fmt::format("{}{} {}: {}", field_text(state, "where"), field_text(state, "method"),
                  field_text(state, "path"), field_text(state, "message"));
  lua_pushlstring(state, text.data(), text.size());
  return 1;
}

ScriptCall call_from_arguments(lua_State* state) {
  ScriptCall call;
  call.method = lua_tostring(state, lua_upvalueindex(1));
  luaL_checktype(state, 1, LUA_TSTRING);
  std::size_t length = 0;
  const char* path = lua_tolstring(state, 1, &length);
  luaL_argcheck(state, length <= limits::kMaxApiPathBytes, 1, "the path is too long");
  call.path.assign(path, length);
  if (lua_isnoneornil(state, 2)) return call;
  luaL_argcheck(state, call.method != "GET", 2, "a GET takes no body: filters go into the path");
  call.body = encode_json(state, 2, kMaxBodyBytes);
  return call;
}

int api_call(lua_State* state) {
  spend_budget(state);
  const ScriptCall call = call_from_arguments(state);
  RunningScript& script = running_script(state);
  const CallAnswer answer = script.budget.without([&] { return script.port.call(call); });

  if (const auto* error = std::get_if<CallError>(&answer))
    return raise_api_error(state, call, *error);
  const CallResult& result = std::get<CallResult>(answer);
  if (!result.body) {
    lua_pushnil(state);
  } else if (!push_json(state, *result.body)) {
    CallError error{result.status, std::nullopt, {}};
    error.message = fmt::format("API answered {} with a body that is {}", result.status,
                                lua_tostring(state, -1));
    return raise_api_error(state, call, error);
  }
  lua_pushinteger(state, result.status);
  return 2;
}

}  // namespace

void open_api(lua_State* state) {
  luaL_newmetatable(state, kErrorMetatable);
  lua_pushcfunction(state, error_to_text);
  lua_setfield(state, -2, "__tostring");
  lua_pushboolean(state, 0);  // no script may reach it and give it a __gc: no hook runs in there
  lua_setfield(state, -2, "__metatable");
  lua_pop(state, 1);

  constexpr std::array<std::pair<const char*, const char*>, 5> kCalls{
      {{"get", "GET"}, {"post", "POST"}, {"put", "PUT"}, {"patch", "PATCH"}, {"delete", "DELETE"}}};
  lua_newtable(state);
  for (const auto& [name, method] : kCalls) {
    lua_pushstring(state, method);
    lua_pushcclosure(state, api_call, 1);
    lua_setfield(state, -2, name);
  }
  lua_setglobal(state, "api");
}

}  // namespace coderunner::executor
