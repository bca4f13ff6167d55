#include "domain/rate_gate.h"

#include <algorithm>

namespace coderunner {

UtcTime gate_until(UtcTime now, Millis retry_after, const GatePolicy& policy) {
  return now + std::min(std::max(retry_after, Millis{0}) + policy.margin, policy.max);
}

UtcTime latest_gate(UtcTime now, const GatePolicy& policy) {
  return now + policy.max + limits::kGateSlack;
}

bool is_closed(UtcTime until, UtcTime now, const GatePolicy& policy) {
  return now < until && until <= latest_gate(now, policy);
}

Gate extend(const std::optional<GateRecord>& standing, const Gate& seen, UtcTime now,
            const GatePolicy& policy) {
  Gate extended = seen;
  extended.until = std::min(seen.until, now + policy.max);
  if (seen.status == Gate::kRateLimited) extended.limited_at = seen.last_seen;
  extended.longest = Millis{0};
  if (standing && standing->gate.until <= latest_gate(now, policy)) {
    const Gate& was = standing->gate;
    if (!extended.limited_at) {
      extended.limited_at = was.limited_at;
      extended.hint = was.hint;
    }
    if (was.until > now) {
      extended.until = std::max(was.until, extended.until);
      extended.first_seen = std::min(was.first_seen, seen.first_seen);
    }
    if (!standing->proved) extended.longest = was.longest;
  }
  extended.longest = std::max(extended.longest, extended.until - extended.first_seen);
  return extended;
}

bool was_limited_lately(const Gate& gate, UtcTime now, const GatePolicy& policy) {
  constexpr int kMinutes = 10;
  // Either way: what is seen in the future was met under a clock that was ahead.
  const auto lately = [&](UtcTime at) {
    return std::chrono::abs(now - at) < kMinutes * policy.minute;
  };
  const bool is_used_up = gate.status != Gate::kByOperator && gate.status != Gate::kRateLimited;
  return (gate.limited_at && lately(*gate.limited_at)) || (is_used_up && lately(gate.last_seen));
}

bool is_probing(const GateRecord& record, UtcTime now, const GatePolicy& policy) {
  constexpr int kMinutes = 2;
  const Gate& gate = record.gate;
  return gate.until <= now && !record.proved && gate.longest > kMinutes * policy.minute;
}

UtcTime minute_end(const std::optional<Gate>& last, UtcTime now, const GatePolicy& policy) {
  constexpr int kMinutes = 60;
  const bool has_phase = last && last->limited_at && last->hint &&
                         now - *last->limited_at < kMinutes * policy.minute &&
                         now >= *last->limited_at;
  if (!has_phase) return now + policy.minute;
  const Millis since = now - (*last->limited_at + *last->hint);
  const Millis into = ((since % policy.minute) + policy.minute) % policy.minute;
  return now + (policy.minute - into);
}

}  // namespace coderunner
