// The Lua source of what scripts find on `api` beside the five calls (docs/scripting.md), compiled
// in from api_module.lua.
#pragma once

#include <string_view>

namespace coderunner::executor {

std::string_view api_module_source();

}  // namespace coderunner::executor
