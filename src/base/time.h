// UtcTime is what is stored and shown; MonoTime measures durations and can not be stored. Neither
// can read a clock: `now` comes in as an argument, from the Clock seam. Text forms: RFC 3339
// outside, DATETIME(3) in rows.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace coderunner {

using Millis = std::chrono::milliseconds;
using UtcTime = std::chrono::sys_time<Millis>;

struct MonoClock {  // a name for the time line; it has no now() on purpose
  using duration = std::chrono::microseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<MonoClock>;
  static constexpr bool is_steady = true;
};
using MonoTime = MonoClock::time_point;

// "2026-08-24T12:08:00.000Z"
std::string to_rfc3339(UtcTime at);
// "2026-08-24 12:08:00.000", always exactly three digits (facts 5.3: servers truncate or round what
// is finer)
std::string to_sql(UtcTime at);
// Accepts what to_sql writes, and 0 to 6 fraction digits (truncated). corrupt on anything else.
Result<UtcTime> from_sql(std::string_view text);
// Accepts "YYYY-MM-DDTHH:MM:SS[.fff](Z|+HH:MM|-HH:MM)". invalid_input on anything else.
Result<UtcTime> from_rfc3339(std::string_view text);

// "500ms", "5s", "15m", "24h", "90d": a whole number and one unit (contract section 5).
Result<Millis> parse_duration(std::string_view text);
// The largest unit that divides it: 90000 ms is "90s".
std::string format_duration(Millis duration);

inline std::int64_t epoch_ms(UtcTime at) { return at.time_since_epoch().count(); }
inline UtcTime utc_from_epoch_ms(std::int64_t ms) { return UtcTime{Millis{ms}}; }

}  // namespace coderunner
