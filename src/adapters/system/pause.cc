#include "adapters/system/pause.h"

#include <cerrno>
#include <ctime>

namespace coderunner {

void pause(Millis length) {
  if (length <= Millis{0}) return;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(length);
  timespec left{};
  left.tv_sec = static_cast<std::time_t>(seconds.count());
  left.tv_nsec = static_cast<long>(std::chrono::nanoseconds{length - seconds}.count());
  while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
  }
}

}  // namespace coderunner
