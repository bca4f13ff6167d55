// One trivial script in a fresh zygote, apart from any daemon: no master, no worker, no store, no
// row. Called by `coderunner doctor`.
#pragma once

#include "base/result.h"
#include "executor/sandbox_report.h"
#include "executor/settings.h"
#include "seams/clock.h"

namespace coderunner::executor {

struct Trial {
  SandboxReport sandbox;
  Result<Done> script;  // why the script did not run to its end
};

// Blocks for at most a few limits::kScriptStart. unavailable: not even a zygote could be started.
Result<Trial> try_out(const ScriptLimits& limits, const Clock& clock);

}  // namespace coderunner::executor
