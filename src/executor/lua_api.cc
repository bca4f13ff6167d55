#include "executor/lua_api.h"

#include <fmt/format.h>

#include <array>
#include <lua.hpp>

#include "domain/limits.h"
#include "executor/api_module.h"
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
  set_text(state, "where", script_place(state));
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

// The path at index 1 and, where there is one, the body at index 2.
ScriptCall read_call(lua_State* state, const char* method) {
  ScriptCall call;
  call.method = method;
  std::size_t length = 0;
  const char* path = lua_tolstring(state, 1, &length);
  if (length > limits::kMaxApiPathBytes) raise(state, "the path is too long");
  call.path.assign(path, length);
  if (lua_isnoneornil(state, 2)) return call;
  if (call.method == "GET") raise(state, "a GET takes no body: filters go into the path");
  call.body = encode_json(state, 2, kMaxBodyBytes);
  return call;
}

int perform(lua_State* state, const ScriptCall& call) {
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

// Its address is the registry's key of the table `api`, which a script may hide behind another.
constexpr char kApiTable = 0;

// The closures of the functions on `api` hold their name as the second upvalue.
void refuse_colon(lua_State* state) {
  if (lua_type(state, 1) != LUA_TTABLE) return;
  push_api(state);
  const bool is_api = lua_rawequal(state, 1, -1) != 0;
  lua_pop(state, 1);
  if (is_api && lua_type(state, lua_upvalueindex(2)) == LUA_TSTRING)
    raise(state, fmt::format("use api.{}, with a dot", lua_tostring(state, lua_upvalueindex(2))));
}

int script_call(lua_State* state) {
  spend_budget(state);
  refuse_colon(state);
  luaL_checktype(state, 1, LUA_TSTRING);
  return perform(state, read_call(state, lua_tostring(state, lua_upvalueindex(1))));
}

// What the module of api_module.lua is given: its header says what each does.
int module_call(lua_State* state) {
  spend_budget(state);
  const std::string method = luaL_checkstring(state, 1);
  lua_remove(state, 1);
  return perform(state, read_call(state, method.c_str()));
}

int module_fail(lua_State* state) {
  std::size_t length = 0;
  const char* message = luaL_checklstring(state, 1, &length);
  raise(state, {message, length});
}

int call_wrapped(lua_State* state) {
  refuse_colon(state);
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_insert(state, 1);
  lua_call(state, lua_gettop(state) - 1, LUA_MULTRET);
  return lua_gettop(state);
}

int module_wrap(lua_State* state) {
  luaL_checktype(state, 1, LUA_TFUNCTION);
  lua_settop(state, 2);
  lua_pushcclosure(state, call_wrapped, 2);
  return 1;
}

// The table `api` is on top.
void run_module(lua_State* state) {
  const std::string_view source = api_module_source();
  if (luaL_loadbufferx(state, source.data(), source.size(), "=api", "t") != LUA_OK)
    lua_error(state);
  lua_pushvalue(state, -2);
  lua_pushcfunction(state, module_call);
  lua_pushcfunction(state, module_fail);
  lua_pushcfunction(state, module_wrap);
  lua_call(state, 4, 0);
}

}  // namespace

void push_api(lua_State* state) { lua_rawgetp(state, LUA_REGISTRYINDEX, &kApiTable); }

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
  lua_pushvalue(state, -1);
  lua_rawsetp(state, LUA_REGISTRYINDEX, &kApiTable);
  for (const auto& [name, method] : kCalls) {
    lua_pushstring(state, method);
    lua_pushstring(state, name);
    lua_pushcclosure(state, script_call, 2);
    lua_setfield(state, -2, name);
  }
  run_module(state);
  lua_setglobal(state, "api");
}

}  // namespace coderunner::executor
