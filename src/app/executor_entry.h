// The hidden subcommands of the executor's processes: main() hands over before it parses anything
// else. Each builds its own parts from the settings it inherited (rulings 26).
#pragma once

#include "executor/roles.h"

namespace coderunner::app {

// The exit status of the process.
int run_executor_role(executor::Role role);

}  // namespace coderunner::app
