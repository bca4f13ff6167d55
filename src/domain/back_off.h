// How long to leave an executor (or a row it keeps failing on) alone after failed dispatches:
// doubling with jitter, 250 ms to 30 s. Pure: the chance is an argument.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"
#include "domain/limits.h"

namespace coderunner {

// `failures` counts from 1; `chance` is any random byte. Between half and all of the doubled delay.
constexpr Millis dispatch_back_off(int failures, std::uint8_t chance) {
  const int doublings = std::clamp(failures - 1, 0, 16);
  const Millis whole =
      std::min(limits::kDispatchBackOffMin * (1 << doublings), limits::kDispatchBackOffMax);
  return whole / 2 + whole * chance / (2 * 255);
}

}  // namespace coderunner
