// The one place that sleeps. For back-off between polls in processes that have no loop of their own
// to wait in; never for a thread that serves others.
#pragma once

#include "base/time.h"

namespace coderunner {

// Blocks the calling thread for at least `length`, through interruptions; returns at once for zero
// or less.
void pause(Millis length);

}  // namespace coderunner
