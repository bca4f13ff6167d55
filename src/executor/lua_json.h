// JSON to Lua and back, in the running state's own memory: what a script decodes counts against its
// cap. Both raise Lua errors, so only protected code may call them. json.null stands for null;
// json.array marks a table as an array, as decoded arrays are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

struct lua_State;

namespace coderunner::executor {

// Registers the global `json` {encode, decode, null, array}.
void open_json(lua_State* state);

// Appends the value at `index`. Object keys come out sorted, so the same table is always the same
// text. Raises on functions, mixed keys, NaN, depth beyond limits::kMaxJsonDepth and texts beyond
// `max_bytes`.
std::string encode_json(lua_State* state, int index, std::size_t max_bytes);

// Pushes the decoded value. False, with a message pushed instead, where `text` is no JSON.
bool push_json(lua_State* state, std::string_view text);

}  // namespace coderunner::executor
