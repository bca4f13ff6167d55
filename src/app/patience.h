// How long a command that follows an execution bears with a server that is away: it may just be
// starting again. One for each following; a fresh one after every answer. Counts rounds, reads no
// clock.
#pragma once

#include "base/result.h"
#include "domain/limits.h"

namespace coderunner::app {

class Patience {
 public:
  // Called after each failed round of limits::kFollowInterval: false once kFollowPatience is used
  // up, or where waiting cannot help.
  bool forgives(const Error& error) {
    if (error.kind != Failure::unavailable) return false;
    return ++failures_ <= limits::kFollowPatience / limits::kFollowInterval;
  }

 private:
  int failures_ = 0;
};

}  // namespace coderunner::app
