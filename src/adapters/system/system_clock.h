// The machine's clocks behind the Clock seam. Built once by app/ and the programs' mains; nothing
// else reads a clock. Thread-safe.
#pragma once

#include "seams/clock.h"

namespace coderunner {

class SystemClock final : public Clock {
 public:
  UtcTime utc_now() const override;
  // Counts from boot and stands still while the machine sleeps (CLOCK_MONOTONIC); the same line for
  // every process of this machine, so workers and their master can compare.
  MonoTime mono_now() const override;
};

}  // namespace coderunner
