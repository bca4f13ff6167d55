// Chance as an argument. Implementations are thread-safe; the system one is cryptographic (nonces
// come from it).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/text.h"

namespace coderunner {

class Entropy {
 public:
  virtual ~Entropy() = default;
  virtual void fill(std::span<std::uint8_t> bytes) = 0;
};

// 128 random bits in hex: nonces, run ids, admission refs (contract section 3).
inline std::string random_hex_128(Entropy& entropy) {
  std::uint8_t bytes[16];
  entropy.fill(bytes);
  return to_hex(bytes);
}

}  // namespace coderunner
