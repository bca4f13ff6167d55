#include "domain/reaping.h"

#include <algorithm>

#include "domain/limits.h"

namespace coderunner {

bool clock_jumped(const Moment& from, const Moment& to) {
  const auto apart = (to.utc - from.utc) - (to.mono - from.mono);
  return std::chrono::abs(apart) > limits::kClockJump;
}

bool was_unwatched(const Moment& from, const Moment& to) {
  return to.mono - from.mono > limits::kUnwatchedGap;
}

bool is_overdue(UtcTime since, MonoTime watched, Millis limit, const Moment& now) {
  // What is of the future was written under another clock: of that one only the watch tells.
  const bool is_old = now.utc - since > limit || since > now.utc;
  return is_old && now.mono - watched > limit;
}

std::optional<UtcTime> purge_cutoff(UtcTime now, std::optional<UtcTime> newest_queued_at,
                                    Millis purge_after) {
  if (!newest_queued_at) return std::nullopt;
  return std::min(now, *newest_queued_at + limits::kNewestQueuedAge) - purge_after;
}

}  // namespace coderunner
