// The life of one script process, from the zygote's fork to its exit. Called by the zygote in the
// child; never returns, and never touches what it inherited but the socket.
#pragma once

#include "executor/jail.h"
#include "seams/clock.h"

namespace coderunner::executor {

[[noreturn]] void run_script_process(const Jail& jail, const Clock& clock);

}  // namespace coderunner::executor
