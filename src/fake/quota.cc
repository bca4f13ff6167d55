#include "fake/quota.h"

#include <algorithm>

#include "domain/limits.h"

namespace coderunner::fake {

QuotaVerdict Quota::charge(const std::string& key, UtcTime now) {
  const std::int64_t length = limits_.minute.count();
  const std::int64_t minute = epoch_ms(now) / length, hour = minute / 60;
  if (!counts_.contains(key)) make_room(hour);
  Counts& counts = counts_[key];
  if (counts.minute.window != minute) counts.minute = {minute, 0};
  if (counts.hour.window != hour) counts.hour = {hour, 0};

  QuotaVerdict verdict;
  const auto until = [&](std::int64_t end) { return Millis{end * length - epoch_ms(now)}; };
  if (counts.minute.calls >= limits_.per_minute) verdict.until_open = until(minute + 1);
  if (counts.hour.calls >= limits_.per_hour) verdict.until_open = until((hour + 1) * 60);
  verdict.limited = verdict.until_open > Millis{0};
  if (!verdict.limited) {
    ++counts.minute.calls;
    ++counts.hour.calls;
  }
  verdict.minute_remaining = limits_.per_minute - counts.minute.calls;
  verdict.hour_remaining = limits_.per_hour - counts.hour.calls;
  return verdict;
}

void Quota::make_room(std::int64_t present_hour) {
  if (counts_.size() < limits::kMaxFakeKeys) return;
  std::erase_if(counts_,
                [&](const auto& entry) { return entry.second.hour.window != present_hour; });
  if (counts_.size() >= limits::kMaxFakeKeys) counts_.clear();
}

}  // namespace coderunner::fake
