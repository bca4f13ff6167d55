// The self-test of the sandbox: what a script's process must not be able to do is tried, in
// throwaway children of the zygote that enter the very jail scripts run in. Called by the zygote at
// its start. Each layer is tried on its own, so that one does not vouch for another.
#pragma once

#include "executor/sandbox.h"
#include "executor/sandbox_report.h"

namespace coderunner::executor {

// Takes some 20 forks, about 20 ms.
SandboxReport prove_sandbox(const Sandbox& sandbox);

}  // namespace coderunner::executor
