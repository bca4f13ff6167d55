#include "adapters/system/signals.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>
#include <utility>

namespace coderunner {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);  // the terminal is gone: end in order, too
  return set;
}

}  // namespace

Result<StopSignals> StopSignals::block() {
  const sigset_t set = stop_signals();
  if (const int error = pthread_sigmask(SIG_BLOCK, &set, nullptr); error != 0)
    return fail(Failure::internal, fmt::format("cannot block signals: {}", std::strerror(error)));
  const int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0)
    return fail(Failure::unavailable,
                fmt::format("cannot open a signal descriptor: {}", std::strerror(errno)));
  return StopSignals{fd};
}

StopSignals::StopSignals(StopSignals&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

StopSignals::~StopSignals() {
  if (fd_ >= 0) close(fd_);
}

bool StopSignals::take() {
  signalfd_siginfo arrived{};
  return read(fd_, &arrived, sizeof arrived) == static_cast<ssize_t>(sizeof arrived);
}

bool StopSignals::wait(Millis at_most) {
  const auto clipped = std::clamp<Millis::rep>(at_most.count(), 0, std::numeric_limits<int>::max());
  pollfd waiting{fd_, POLLIN, 0};
  return poll(&waiting, 1, static_cast<int>(clipped)) == 1 && take();
}

void unblock_stop_signals() {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void ignore_broken_pipes() { std::signal(SIGPIPE, SIG_IGN); }

}  // namespace coderunner
