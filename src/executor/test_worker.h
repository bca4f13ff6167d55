// A worker of the test lane: one script at a time, run at once and outside the queue (contract
// section 2). Broker, ladders and gate are those of every run; there is no row, and the log goes to
// `serve`, which waits for the end. It has no key file and no salt: the one API key it sees is the
// request's. main() calls it in the role executor-test-worker. Single-threaded.
#pragma once

#include <functional>

#include "executor/settings.h"
#include "seams/clock.h"
#include "seams/entropy.h"
#include "seams/events.h"
#include "seams/gate_store.h"

namespace coderunner::executor {

struct TestWorkerParts {
  // Asked anew for each run: the lane works while the store is away, and an unreachable gate is an
  // open one (rulings 12).
  std::function<GateStore&()> gates;
  const Clock& clock;
  Entropy& entropy;
  Events& events;
};

// `settings.wall` is the lane's. Runs on the descriptors of roles.h until the master says so or has
// died. The process's exit status.
int run_test_worker(const RunSettings& settings, const TestWorkerParts& parts);

}  // namespace coderunner::executor
