// What a freshly forked script process gives up before it reads a byte of a script (rulings 27;
// docs/decisions/0010). Called in children of the zygote only. Irreversible, so never in a process
// that lives on.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "executor/settings.h"
#include "executor/syscall_filter.h"

namespace coderunner::executor {

inline constexpr int kJailSocket = 3;  // the only descriptor left open

struct Jail {
  int socket = -1;   // becomes kJailSocket
  pid_t parent = 0;  // what getppid() answers while the zygote lives; dies with it
  ScriptLimits limits;
  std::size_t memory_before = 0;  // bytes of private memory the zygote has
  // nullptr in sanitizer builds, and where the self-test looks at what holds without it.
  const SyscallFilter* filter = nullptr;
};

// One descriptor, resource limits, an unprivileged uid (where this process may change it), no
// capability, no new privileges, SIGKILL at the parent's death, not to be traced by its equals, and
// the system call filter last. On a failure the process must not run a script.
Result<Done> enter_jail(const Jail& jail);

}  // namespace coderunner::executor
