// What a misspelt `api.create_crad` was probably meant to be, for the error that ends its script.
// Lua itself says only "attempt to call a nil value (field 'create_crad')", and an __index on `api`
// that raised would break `if api.something then`.
#pragma once

#include <string>
#include <string_view>

struct lua_State;

namespace coderunner::executor {

// ": there is no api.create_crad; did you mean api.create_card?" where `error` is a call of a nil
// field, `source` has that field after `api`, and the table on top of the stack does not; else "".
// Leaves the stack as it was.
std::string api_suggestion(lua_State* state, std::string_view error, std::string_view source);

}  // namespace coderunner::executor
