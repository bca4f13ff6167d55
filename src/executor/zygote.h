// The single-threaded parent of every script process (rulings 26, 27): forks on request, kills on
// request or when the worker is gone, hands the wait status back. main() calls it in the role
// executor-zygote, before it reads or opens anything: it must never hold a secret, a store or a
// request.
#pragma once

#include "seams/clock.h"

namespace coderunner::executor {

// Runs on the descriptor of roles.h until the master is gone and the last script has ended. The
// exit status. `clock` is read by the scripts' loop budget only and must survive a fork.
int run_zygote(const Clock& clock);

}  // namespace coderunner::executor
