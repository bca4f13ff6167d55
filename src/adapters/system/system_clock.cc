#include "adapters/system/system_clock.h"

#include <ctime>

#include "base/ensure.h"

namespace coderunner {
namespace {

std::chrono::nanoseconds read_clock(clockid_t clock) {
  timespec at{};
  ensure(clock_gettime(clock, &at) == 0, "clock_gettime refused a clock every kernel has");
  return std::chrono::seconds{at.tv_sec} + std::chrono::nanoseconds{at.tv_nsec};
}

}  // namespace

UtcTime SystemClock::utc_now() const {
  return UtcTime{std::chrono::floor<Millis>(read_clock(CLOCK_REALTIME))};
}

MonoTime SystemClock::mono_now() const {
  return MonoTime{std::chrono::floor<MonoClock::duration>(read_clock(CLOCK_MONOTONIC))};
}

}  // namespace coderunner
