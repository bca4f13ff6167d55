// The API's quota as a model (contract section 8): fixed windows per key, aligned to the replay's
// zero. A refused call is not charged; its hint is what is left of the window, in whole seconds
// rounded up. Used by the replay only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/time.h"

namespace coderunner::sim {

struct Quota {  // 0: no limit
  int per_minute = 0;
  int per_hour = 0;
  friend bool operator==(const Quota&, const Quota&) = default;
};

class QuotaWindows {
 public:
  explicit QuotaWindows(const Quota& quota) : quota_(quota) {}

  struct Answer {
    std::optional<Millis> retry_after;  // of its 429, of both windows the later; nothing: served
    std::optional<int> remaining;       // calls left in the minute, where it is limited
  };
  Answer call(const std::string& key, Millis since_zero);

 private:
  struct Window {
    std::int64_t number = -1;
    int used = 0;
  };
  struct Used {
    Window minute;
    Window hour;
  };

  Quota quota_;
  std::map<std::string, Used> used_;
};

}  // namespace coderunner::sim
