// poll(2) until a point of a Clock's time line. The only way anything in the executor waits.
#pragma once

#include <poll.h>

#include <span>

#include "base/time.h"
#include "seams/clock.h"

namespace coderunner::executor {

// True where at least one descriptor is ready (revents set); false once `until` has come, at least
// one look being taken. Interruptions by signals do not shorten it.
bool poll_until(std::span<pollfd> polled, MonoTime until, const Clock& clock);

}  // namespace coderunner::executor
