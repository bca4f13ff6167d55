// The old world of a replay: a pool of workers without a queue of its own, first come first served.
// A 429 is slept out inside the worker, as often as it comes; a long one ends the run (brief 10);
// the wall ends what is left.
#pragma once

#include <vector>

#include "sim/replay.h"

namespace coderunner::sim {

ReplayReport replay_pool(const std::vector<TraceArrival>& trace, const ReplayOptions& options);

}  // namespace coderunner::sim
