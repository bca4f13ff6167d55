#include "sim/quota_windows.h"

#include <algorithm>

namespace coderunner::sim {
namespace {

using namespace std::chrono_literals;

constexpr Millis kMinute = 1min;
constexpr Millis kHour = 1h;

}  // namespace

QuotaWindows::Answer QuotaWindows::call(const std::string& key, Millis since_zero) {
  Used& used = used_[key];
  const auto enter = [since_zero](Window& window, Millis length) {
    const std::int64_t number = since_zero / length;
    if (window.number != number) window = {number, 0};
  };
  enter(used.minute, kMinute);
  enter(used.hour, kHour);
  const auto left = [since_zero](const Window& window, int limit, Millis length) {
    if (limit == 0 || window.used < limit) return Millis{0};
    const Millis rest = (window.number + 1) * length - since_zero;
    return Millis{std::chrono::ceil<std::chrono::seconds>(rest)};
  };
  const Millis wait = std::max(left(used.minute, quota_.per_minute, kMinute),
                               left(used.hour, quota_.per_hour, kHour));
  if (wait > Millis{0}) return {wait, std::nullopt};
  ++used.minute.used;
  ++used.hour.used;
  if (quota_.per_minute == 0) return {};
  return {std::nullopt, quota_.per_minute - used.minute.used};
}

}  // namespace coderunner::sim
