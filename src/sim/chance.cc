#include "sim/chance.h"

#include <algorithm>

namespace coderunner::sim {
namespace {

// splitmix64's own constants, and FNV-1a's to name a stream.
constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15U;
constexpr std::uint64_t kFnvPrime = 0x100000001B3U;
constexpr std::uint64_t kFnvOffset = 0xCBF29CE484222325U;

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

}  // namespace

Chance::Chance(std::uint64_t seed, std::string_view part, std::uint64_t number) {
  std::uint64_t name = kFnvOffset;
  for (const char c : part) name = (name ^ static_cast<std::uint8_t>(c)) * kFnvPrime;
  state_ = mix(mix(seed + kGolden) ^ name) + mix(number * kGolden + 1);
}

std::uint64_t Chance::next() { return mix(state_ += kGolden); }

int Chance::between(int low, int high) {
  const auto span = static_cast<std::uint64_t>(std::max(high - low, 0)) + 1;
  return low + static_cast<int>(next() % span);
}

Millis Chance::between(Millis low, Millis high) {
  const auto span = static_cast<std::uint64_t>(std::max<Millis::rep>((high - low).count(), 0)) + 1;
  return low + Millis{static_cast<Millis::rep>(next() % span)};
}

}  // namespace coderunner::sim
