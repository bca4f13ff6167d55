// Runs one script in one Lua 5.4 state under its limits (contract section 7). Called in a script
// process, and by tests. The only room with Lua headers, together with the other lua_*.cc. Knows no
// socket and no HTTP: what a script reaches outside is the ScriptPort.
#pragma once

#include <string>

#include "executor/protocol.h"
#include "executor/settings.h"
#include "seams/clock.h"

namespace coderunner::executor {

class ScriptPort {
 public:
  virtual ~ScriptPort() = default;
  virtual void log(std::string message) = 0;
  virtual CallAnswer call(const ScriptCall& call) = 0;
};

struct ScriptHost {
  ScriptLimits limits;
  ScriptPort& port;
  const Clock& clock;
};

// Blocks for as long as the script runs. `loop_budget` counts the script's own time, not what it
// waits inside the port; it is checked every thousand Lua instructions, so a long C function
// (pattern matching) outlives it: for that there are RLIMIT_CPU and the wall. Messages are valid
// UTF-8 of at most limits::kMaxErrorMessageBytes.
ScriptEnd run_script(const ScriptStart& start, const ScriptHost& host);

}  // namespace coderunner::executor
