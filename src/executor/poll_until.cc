#include "executor/poll_until.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "base/ensure.h"

namespace coderunner::executor {

bool poll_until(std::span<pollfd> polled, MonoTime until, const Clock& clock) {
  constexpr std::int64_t kLongest = 60'000;  // int milliseconds, and a clock that jumps
  for (;;) {
    const auto left = std::chrono::ceil<Millis>(until - clock.mono_now()).count();
    const auto wait = std::clamp<std::int64_t>(left, 0, kLongest);
    const int ready = ::poll(polled.data(), polled.size(), static_cast<int>(wait));
    ensure(ready >= 0 || errno == EINTR, "poll");
    if (ready > 0) return true;
    if (ready == 0 && wait == left) return false;
    if (left <= 0) return false;
  }
}

}  // namespace coderunner::executor
