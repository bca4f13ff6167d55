// The one source of chance of a simulated run: splitmix64 over a seed, one stream per part of the
// scenario, so that a change to one part does not reshuffle the others. No standard distribution:
// their results are not specified. Never used by the product.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/time.h"

namespace coderunner::sim {

class Chance {
 public:
  Chance(std::uint64_t seed, std::string_view part, std::uint64_t number = 0);

  std::uint64_t next();
  // In [low, high], both included.
  int between(int low, int high);
  Millis between(Millis low, Millis high);
  bool percent(int chance) { return between(1, 100) <= chance; }

 private:
  std::uint64_t state_;
};

}  // namespace coderunner::sim
