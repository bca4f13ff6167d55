// The global `api` of a script: get, post, put, patch, delete (contract section 7). Each call goes
// through the ScriptPort; an API error is raised as a table with status, code, message, method,
// path.
#pragma once

struct lua_State;

namespace coderunner::executor {

// Registers the global `api`.
void open_api(lua_State* state);

// Pushes the table open_api() made, whatever the script has done to the global.
void push_api(lua_State* state);

}  // namespace coderunner::executor
