#include "adapters/sql/busy_wait.h"

#include <array>

namespace coderunner::sql {

BusyWait::BusyWait(const Clock& clock, Entropy& entropy, Pause pause, WaitPolicy policy)
    : clock_(clock), entropy_(entropy), pause_(std::move(pause)), policy_(policy) {
  ensure(pause_ != nullptr, "a store needs a pause to wait with");
  ensure(policy_.shortest > Millis{0} && policy_.shortest <= policy_.longest, "wait policy");
}

Millis BusyWait::jittered() const {
  std::array<std::uint8_t, 2> bytes{};
  entropy_.fill(bytes);
  const auto span = static_cast<unsigned>((policy_.longest - policy_.shortest).count()) + 1U;
  const unsigned drawn = bytes[0] * 256U + bytes[1];
  return policy_.shortest + Millis{drawn % span};
}

}  // namespace coderunner::sql
