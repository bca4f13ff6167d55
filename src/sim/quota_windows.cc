#include "sim/quota_windows.h"

#include <algorithm>

namespace coderunner::sim {
namespace {

using namespace std::chrono_literals;

constexpr Millis kMinute = 1min;
constexpr Millis kHour = 1h;

}  // namespace

std::optional<Millis> QuotaWindows::call(const std::string& key, Millis since_zero) {
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
  if (wait > Millis{0}) return wait;
  ++used.minute.used;
  ++used.hour.used;
  return std::nullopt;
}

}  // namespace coderunner::sim
