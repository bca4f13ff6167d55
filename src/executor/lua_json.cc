#include "executor/lua_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <lua.hpp>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.h"
#include "domain/limits.h"
#include "executor/lua_state.h"

namespace coderunner::executor {
namespace {

using Json = nlohmann::json;

constexpr const char* kArrayMetatable = "json.array";
constexpr int kStackPerLevel = 6;

void push_null(lua_State* state) { lua_pushlightuserdata(state, nullptr); }

bool is_null(lua_State* state, int index) {
  return lua_type(state, index) == LUA_TLIGHTUSERDATA && lua_touserdata(state, index) == nullptr;
}

bool is_marked_array(lua_State* state, int index) {
  if (lua_getmetatable(state, index) == 0) return false;
  luaL_getmetatable(state, kArrayMetatable);
  const bool same = lua_rawequal(state, -1, -2) != 0;
  lua_pop(state, 2);
  return same;
}

std::string escape_of(unsigned char c) {
  switch (c) {
    case '"': return "\\\"";
    case '\\': return "\\\\";
    case '\b': return "\\b";
    case '\f': return "\\f";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: return fmt::format("\\u{:04x}", c);
  }
}

class Encoder {
 public:
  Encoder(lua_State* state, std::size_t max_bytes) : state_(state), max_bytes_(max_bytes) {}

  void value(int index, int depth) {
    index = lua_absindex(state_, index);
    switch (lua_type(state_, index)) {
      case LUA_TNIL: return add("null");
      case LUA_TBOOLEAN: return add(lua_toboolean(state_, index) != 0 ? "true" : "false");
      case LUA_TNUMBER: return number(index);
      case LUA_TSTRING: return text(index);
      case LUA_TTABLE: return table(index, depth);
      default: break;
    }
    if (is_null(state_, index)) return add("null");
    raise(state_, fmt::format("json: a {} has no JSON form", luaL_typename(state_, index)));
  }

  std::string take() { return std::move(out_); }

 private:
  [[noreturn]] void too_large() { raise(state_, "json: the text is too large"); }

  void add(std::string_view text) {
    if (out_.size() + text.size() > max_bytes_) too_large();
    out_ += text;
  }

  void number(int index) {
    if (lua_isinteger(state_, index) != 0)
      return add(fmt::format("{}", lua_tointeger(state_, index)));
    const double number = lua_tonumber(state_, index);
    if (!std::isfinite(number)) raise(state_, fmt::format("json: {} has no JSON form", number));
    add(fmt::format("{}", number));
  }

  void text(int index) {
    std::size_t length = 0;
    const char* bytes = lua_tolstring(state_, index, &length);
    quoted({bytes, length});
  }

  void quoted(std::string_view text) {
    if (text.size() > max_bytes_) too_large();
    if (is_valid_utf8(text)) return escaped(text);
    escaped(replace_invalid_utf8(text));
  }

  void escaped(std::string_view text) {
    add("\"");
    std::size_t done = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const auto c = static_cast<unsigned char>(text[at]);
      if (c >= ' ' && c != '"' && c != '\\') continue;
      add(text.substr(done, at - done));
      add(escape_of(c));
      done = at + 1;
    }
    add(text.substr(done));
    add("\"");
  }

  void table(int index, int depth) {
    if (depth >= limits::kMaxJsonDepth)
      raise(state_, fmt::format("json: nested deeper than {}", limits::kMaxJsonDepth));
    luaL_checkstack(state_, kStackPerLevel, "json");
    const auto length = static_cast<lua_Integer>(lua_rawlen(state_, index));
    if (is_marked_array(state_, index)) return array(index, depth, length);
    std::vector<std::string_view> names;  // the table's own: nothing runs that could change it
    lua_Integer places = 0;
    for (lua_pushnil(state_); lua_next(state_, index) != 0; lua_pop(state_, 1)) {
      if (lua_type(state_, -2) == LUA_TSTRING) {
        std::size_t bytes = 0;
        const char* name = lua_tolstring(state_, -2, &bytes);
        names.emplace_back(name, bytes);
        // A table of a million names that holds itself would be collected at every level.
        pending_ += bytes + sizeof(std::string_view);
        if (pending_ > max_bytes_) too_large();
      } else if (lua_isinteger(state_, -2) != 0) {
        ++places;
      } else {
        raise(state_, fmt::format("json: a {} can not be a key", luaL_typename(state_, -2)));
      }
    }
    if (places == 0) return object(index, depth, std::move(names));
    if (!names.empty() || places != length)
      raise(state_, "json: a table is either a list 1..n or has texts as keys");
    array(index, depth, length);
  }

  void array(int index, int depth, lua_Integer length) {
    add("[");
    for (lua_Integer at = 1; at <= length; ++at) {
      if (at > 1) add(",");
      lua_rawgeti(state_, index, at);
      value(-1, depth + 1);
      lua_pop(state_, 1);
    }
    add("]");
  }

  void object(int index, int depth, std::vector<std::string_view> names) {
    std::sort(names.begin(), names.end());
    add("{");
    for (const std::string_view& name : names) {
      if (&name != &names.front()) add(",");
      pending_ -= name.size() + sizeof(std::string_view);
      quoted(name);
      add(":");
      lua_pushlstring(state_, name.data(), name.size());
      lua_rawget(state_, index);
      value(-1, depth + 1);
      lua_pop(state_, 1);
    }
    add("}");
  }

  lua_State* state_;
  std::size_t max_bytes_;
  std::string out_;
  std::size_t pending_ = 0;  // names of open objects that are still to be written
};

// Builds the value on the Lua stack: below each open container its own place, keys above objects.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(lua_State* state) : state_(state) {}
  std::string error;

  bool null() override {
    push_null(state_);
    return attach();
  }
  bool boolean(bool value) override {
    lua_pushboolean(state_, value ? 1 : 0);
    return attach();
  }
  bool number_integer(number_integer_t value) override {
    lua_pushinteger(state_, value);
    return attach();
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<number_unsigned_t>(LUA_MAXINTEGER))
      lua_pushinteger(state_, static_cast<lua_Integer>(value));
    else
      lua_pushnumber(state_, static_cast<lua_Number>(value));
    return attach();
  }
  bool number_float(number_float_t value, const string_t&) override {
    lua_pushnumber(state_, value);
    return attach();
  }
  bool string(string_t& value) override {
    lua_pushlstring(state_, value.data(), value.size());
    return attach();
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(false); }
  bool start_array(std::size_t) override { return open(true); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    lua_pushlstring(state_, name.data(), name.size());
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    error = fmt::format("not JSON: unexpected text at byte {}", position);
    return false;
  }

 private:
  struct Level {
    bool is_array;
    lua_Integer next = 1;
  };

  bool open(bool is_array) {
    if (levels_.size() >= static_cast<std::size_t>(limits::kMaxJsonDepth)) {
      error = fmt::format("not accepted: nested deeper than {}", limits::kMaxJsonDepth);
      return false;
    }
    luaL_checkstack(state_, kStackPerLevel, "json");
    lua_newtable(state_);
    if (is_array) luaL_setmetatable(state_, kArrayMetatable);
    levels_.push_back({is_array});
    return true;
  }
  bool close() {
    levels_.pop_back();
    return attach();
  }
  bool attach() {
    if (levels_.empty()) return true;
    Level& level = levels_.back();
    if (level.is_array)
      lua_rawseti(state_, -2, level.next++);
    else
      lua_rawset(state_, -3);
    return true;
  }

  lua_State* state_;
  std::vector<Level> levels_;
};

int json_encode(lua_State* state) {
  spend_budget(state);
  luaL_checkany(state, 1);
  const std::string text = encode_json(state, 1, limits::kMaxFrameBytes);
  lua_pushlstring(state, text.data(), text.size());
  return 1;
}

int json_decode(lua_State* state) {
  spend_budget(state);
  std::size_t length = 0;
  const char* bytes = luaL_checklstring(state, 1, &length);
  if (push_json(state, {bytes, length})) return 1;
  raise(state, fmt::format("json: {}", lua_tostring(state, -1)));
}

int json_array(lua_State* state) {
  if (lua_isnoneornil(state, 1)) {
    lua_settop(state, 0);
    lua_newtable(state);
  }
  luaL_checktype(state, 1, LUA_TTABLE);
  lua_settop(state, 1);
  if (lua_getmetatable(state, 1) != 0 && !is_marked_array(state, 1))
    raise(state, "json.array: the table has a metatable of its own");
  lua_settop(state, 1);
  luaL_setmetatable(state, kArrayMetatable);
  return 1;
}

int null_to_text(lua_State* state) {
  lua_pushliteral(state, "null");
  return 1;
}

int refuse_null(lua_State* state) {
  const bool has_name = lua_type(state, 2) == LUA_TSTRING && is_null(state, 1);
  const char* what = lua_tostring(state, lua_upvalueindex(1));
  if (std::string_view{what} != "index" || !has_name)
    raise(state, fmt::format("attempt to {} json.null", what));
  raise(state, fmt::format("attempt to index json.null (field '{}')",
                           text_of(state, 2, limits::kMaxErrorMessageBytes)));
}

// Lua calls a light userdata "a userdata value" in all of these, whatever its __name.
void set_refusals_of_null(lua_State* state) {
  constexpr const char* kArithmetic = "perform arithmetic on";
  constexpr std::array<std::pair<const char*, const char*>, 15> kRefused{
      {{"__index", "index"},
       {"__newindex", "index"},
       {"__call", "call"},
       {"__len", "get length of"},
       {"__concat", "concatenate"},
       {"__lt", "compare"},
       {"__le", "compare"},
       {"__add", kArithmetic},
       {"__sub", kArithmetic},
       {"__mul", kArithmetic},
       {"__div", kArithmetic},
       {"__mod", kArithmetic},
       {"__idiv", kArithmetic},
       {"__pow", kArithmetic},
       {"__unm", kArithmetic}}};
  for (const auto& [event, what] : kRefused) {
    lua_pushstring(state, what);
    lua_pushcclosure(state, refuse_null, 1);
    lua_setfield(state, -2, event);
  }
}

}  // namespace

void open_json(lua_State* state) {
  luaL_newmetatable(state, kArrayMetatable);
  lua_pushboolean(state, 0);  // as the errors' of lua_api.cc
  lua_setfield(state, -2, "__metatable");
  lua_pop(state, 1);

  lua_newtable(state);
  push_null(state);
  lua_newtable(state);  // shared by all light userdata; json.null is the only one a script meets
  lua_pushcfunction(state, null_to_text);
  lua_setfield(state, -2, "__tostring");
  lua_pushliteral(state, "json.null");
  lua_setfield(state, -2, "__name");
  set_refusals_of_null(state);
  lua_pushboolean(state, 0);
  lua_setfield(state, -2, "__metatable");
  lua_setmetatable(state, -2);
  lua_setfield(state, -2, "null");
  lua_pushcfunction(state, json_encode);
  lua_setfield(state, -2, "encode");
  lua_pushcfunction(state, json_decode);
  lua_setfield(state, -2, "decode");
  lua_pushcfunction(state, json_array);
  lua_setfield(state, -2, "array");
  lua_setglobal(state, "json");
}

std::string encode_json(lua_State* state, int index, std::size_t max_bytes) {
  Encoder encoder{state, max_bytes};
  encoder.value(index, 0);
  return encoder.take();
}

bool push_json(lua_State* state, std::string_view text) {
  const int top = lua_gettop(state);
  Builder builder{state};
  if (Json::sax_parse(text, &builder)) return true;
  lua_settop(state, top);
  lua_pushlstring(state, builder.error.data(), builder.error.size());
  return false;
}

}  // namespace coderunner::executor
