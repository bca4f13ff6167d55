// When age may end a row, and which rows are old enough to go (rulings 5, 23, 24). Age alone proves
// nothing: a clock may have been set. So it counts only together with what the reaper has itself
// watched on its monotonic clock, and a watch ends where that clock can not vouch for it. Pure.
#pragma once

#include <optional>

#include "base/time.h"

namespace coderunner {

struct Moment {  // both clocks, read together
  UtcTime utc;
  MonoTime mono;
};

// The wall clock was set, or the machine slept: the two clocks do not agree on how long it was.
bool clock_jumped(const Moment& from, const Moment& to);

// Nobody watched between the two: this process was stopped, or starved.
bool was_unwatched(const Moment& from, const Moment& to);

// `since` is the stored time, `watched` when this reaper first saw it so; both must be longer ago
// than `limit`. A stored time of the future, of a clock since set right, leaves it to the watch.
bool is_overdue(UtcTime since, MonoTime watched, Millis limit, const Moment& now);

// Rows queued before it may go. A clock at the wrong year must not purge everything, so the newest
// admission bounds it; nothing is old where nothing was ever queued.
std::optional<UtcTime> purge_cutoff(UtcTime now, std::optional<UtcTime> newest_queued_at,
                                    Millis purge_after);

}  // namespace coderunner
