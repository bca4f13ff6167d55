// Time as an argument: read once per tick or request and passed down. Implementations are
// thread-safe.
#pragma once

#include "base/time.h"

namespace coderunner {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual UtcTime utc_now() const = 0;
  virtual MonoTime mono_now() const = 0;
};

}  // namespace coderunner
