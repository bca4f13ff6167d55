// What a freshly forked script process gives up before it reads a byte of a script (rulings 27).
// Called by script_process only. Irreversible, so never in a process that lives on.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "executor/settings.h"

namespace coderunner::executor {

inline constexpr int kJailSocket = 3;  // the only descriptor left open

struct Jail {
  int socket = -1;   // becomes kJailSocket
  pid_t parent = 0;  // dies with it
  ScriptLimits limits;
};

// One descriptor, resource limits, an unprivileged uid (where this process may change it), no new
// privileges, SIGKILL at the parent's death. On a failure the process must not run a script.
Result<Done> enter_jail(const Jail& jail);

}  // namespace coderunner::executor
