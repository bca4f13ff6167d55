#include "adapters/system/system_entropy.h"

#include <sys/random.h>

#include <cerrno>

#include "base/ensure.h"

namespace coderunner {

void SystemEntropy::fill(std::span<std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    // Going on with guessable nonces would be worse than stopping.
    ensure(got > 0, "getrandom failed");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace coderunner
