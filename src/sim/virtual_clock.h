// Time in a simulated run. The monotonic clock only advances, by the event queue; the wall clock
// goes with it and is stepped at will, backward and to the wrong year included.
#pragma once

#include "base/ensure.h"
#include "seams/clock.h"

namespace coderunner::sim {

class VirtualClock final : public Clock {
 public:
  UtcTime utc_now() const override {
    return utc_at_start_ + std::chrono::floor<Millis>(mono_ - kStart);
  }
  MonoTime mono_now() const override { return mono_; }

  void advance_to(MonoTime at) {
    ensure(at >= mono_, "the monotonic clock went backward");
    mono_ = at;
  }
  void step_utc(Millis by) { utc_at_start_ += by; }

  static constexpr MonoTime kStart{std::chrono::hours{1}};

 private:
  MonoTime mono_ = kStart;
  UtcTime utc_at_start_{Millis{1'787'573'280'000}};  // 2026-08-24, the day of the brief's incident
};

}  // namespace coderunner::sim
