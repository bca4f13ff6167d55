// The reaper: the last backstop over the rows, for what nobody else is left to end, and the one who
// lets old rows and keys go (rulings 5, 6, 23, 24). Driven by app's loop on one thread of the api
// role, so that it works where the drainer is dead. Meets the others only in the store; ends no row
// but by one write conditional on all it was based on.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "domain/reaping.h"
#include "seams/clock.h"
#include "seams/events.h"
#include "seams/process_probe.h"
#include "seams/store.h"

namespace coderunner {

struct ReaperLimits {
  Millis running_after = limits::kRunningAfter;
  Millis queued_after = limits::kQueuedAfter;
  Millis purge_after = limits::kPurgeAfter;
  Millis scrub_after = limits::kScrubAfter;
};

struct ReaperParts {
  ReaperStore& store;
  const ProcessProbe& probe;
  const Clock& clock;
  Events& events;
};

class Reaper {
 public:
  Reaper(const ReaperLimits& limits, ReaperParts parts);

  // One step; answers how long until it next wants to run. A store that is away costs it all it has
  // watched, and is told once an outage.
  Millis tick();

 private:
  struct Watch {
    MonoTime since;
    std::optional<MonoTime> gone_since;  // its executor is proved gone
  };

  struct Verdict {
    std::string reason;
    Level level;
  };

  Result<Done> run();
  void check_clocks();
  void forget_watches();
  Result<Done> sweep();
  Result<Done> reap_running();
  std::optional<Verdict> verdict_on(const RunningRow& row, Watch& watch);
  Result<Done> abandon(const RunningRow& row, const Verdict& verdict);
  Result<Done> reap_queued();
  Result<Done> end_never_dispatched(const OldQueuedRow& row);
  Result<Done> keep_house();
  Result<bool> purge();
  void told(Level level, std::string_view kind, std::optional<ExecutionId> execution,
            std::string_view field, std::string value);

  ReaperLimits limits_;
  ReaperParts parts_;
  Moment now_;
  std::optional<Moment> last_;  // the tick before
  std::optional<Moment> base_;  // what the clocks are held against
  std::map<ExecutionId, Watch> running_;
  std::optional<UtcTime> last_tick_;       // of any drainer, as stored
  std::optional<MonoTime> no_tick_since_;  // it has stood still under this reaper's eyes
  MonoTime next_sweep_{};
  MonoTime next_housekeeping_{};
  bool store_is_away_ = false;
};

}  // namespace coderunner
