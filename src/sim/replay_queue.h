// The new world of a replay: the product's admission row, drainer, plan, gate and ladders on
// virtual time, with an executor that spends a trace's figures instead of running scripts. An idle
// queue is not ticked: such a tick changes nothing.
#pragma once

#include <vector>

#include "sim/replay.h"

namespace coderunner::sim {

ReplayReport replay_queue(const std::vector<TraceArrival>& trace, const ReplayOptions& options);

}  // namespace coderunner::sim
