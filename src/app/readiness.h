// Whether this process should be sent work (contract section 2, /readyz) and, where not, why: it is
// stopping, its store can not be read or written, or its drainer stands still. An executor that is
// away is no reason: what is admitted waits. Asked by the routes; thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "seams/clock.h"

namespace coderunner::app {

struct ReadinessParts {
  const std::atomic<bool>& stopping;
  const Clock& clock;
  std::function<Result<Done>()> read_store;
  // Why the last write was not kept; nullopt once one was since. The drainer's heartbeat tries
  // again by itself.
  std::function<std::optional<Error>()> write_trouble;
  std::function<std::optional<UtcTime>()> last_tick;  // empty where another process drains
};

class Readiness {
 public:
  explicit Readiness(ReadinessParts parts);

  // Empty: ready. Reads the store once.
  std::vector<std::string> reasons() const;

 private:
  bool is_stalled() const;

  ReadinessParts parts_;
  UtcTime made_at_;  // a drainer that has never ticked is late from here on
};

}  // namespace coderunner::app
