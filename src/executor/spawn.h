// Starts this very program again in one of the executor's roles. Called by the launcher and the
// master. The child gets exactly the descriptors given and stdin, stdout, stderr; everything else
// is closed, also what a library opened without close-on-exec.
#pragma once

#include <span>

#include "base/result.h"
#include "executor/descriptor.h"
#include "executor/roles.h"

namespace coderunner::executor {

// `descriptors` become 3, 4, 5, ... in the child, in the order roles.h numbers them. Answers the
// pid. SIGTERM, SIGINT and SIGHUP are blocked in the child until it calls ignore_group_signals().
// The zygote gets an empty environment.
Result<int> spawn_role(Role role, std::span<const int> descriptors);

// First thing in every role, and kept by the scripts the zygote forks: the terminal and the service
// manager signal the whole group, but these processes are told what to do by their channels alone
// (rulings 27). Broken pipes are errors.
void ignore_group_signals(const char* process_name);

// SIGCHLD, blocked from now on, as something to poll; not open where it could not be made.
Descriptor child_exits();

}  // namespace coderunner::executor
