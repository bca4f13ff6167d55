#include "sim/replay.h"

#include "sim/replay_pool.h"
#include "sim/replay_queue.h"

namespace coderunner::sim {

ReplayReport replay(const std::vector<TraceArrival>& trace, const ReplayOptions& options) {
  switch (options.policy) {
    case Policy::none: return replay_pool(trace, options);
    case Policy::queue: return replay_queue(trace, options);
  }
  return {};
}

}  // namespace coderunner::sim
