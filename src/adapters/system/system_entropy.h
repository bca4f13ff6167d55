// The kernel's random numbers behind the Entropy seam: nonces, run ids, secrets. Built once by app/
// and the programs' mains. Thread-safe; never repeats after a fork.
#pragma once

#include "seams/entropy.h"

namespace coderunner {

class SystemEntropy final : public Entropy {
 public:
  // Blocks only until the kernel's pool is first seeded, early in boot.
  void fill(std::span<std::uint8_t> bytes) override;
};

}  // namespace coderunner
