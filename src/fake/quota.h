// Calls per API key in fixed windows, as the API counts them (contract section 1, facts 1.2). Used
// by the fake API only. Pure: now is an argument; windows are aligned to the epoch of that clock.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/time.h"

namespace coderunner::fake {

struct QuotaLimits {
  int per_minute = 30;  // the Standard plan (facts 1.2)
  int per_hour = 600;
  Millis minute{60'000};  // the hour is 60 of them, however short
  friend bool operator==(const QuotaLimits&, const QuotaLimits&) = default;
};

struct QuotaVerdict {
  bool limited = false;      // not charged
  Millis until_open{0};      // of a limited call: to the end of the exhausted window, the later one
  int minute_remaining = 0;  // after this call
  int hour_remaining = 0;
  friend bool operator==(const QuotaVerdict&, const QuotaVerdict&) = default;
};

class Quota {
 public:
  explicit Quota(QuotaLimits limits) : limits_(limits) {}

  QuotaVerdict charge(const std::string& key, UtcTime now);
  const QuotaLimits& limits() const { return limits_; }

 private:
  struct Count {
    std::int64_t window = -1;
    int calls = 0;
  };
  struct Counts {
    Count minute, hour;
  };

  void make_room(std::int64_t present_hour);

  QuotaLimits limits_;
  std::unordered_map<std::string, Counts> counts_;
};

}  // namespace coderunner::fake
