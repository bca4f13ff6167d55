// The executor's master: accepts connections, hands each to an idle worker, starts workers on
// demand and the zygote, and kills what has outstayed its wall (rulings 10, 27). main() calls it in
// the role executor-master. Holds no store, no secret and reads no request. Single-threaded.
#pragma once

#include "executor/settings.h"
#include "seams/clock.h"
#include "seams/events.h"

namespace coderunner::executor {

struct MasterParts {
  const Clock& clock;
  Events& events;
};

// Runs on the descriptors of roles.h until told to stop or until its parent has died and the last
// run has ended. The exit status of the process: 0, or 1 where it could not set itself up.
int run_master(const PoolSettings& settings, const MasterParts& parts);

}  // namespace coderunner::executor
