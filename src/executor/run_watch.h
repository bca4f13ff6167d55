// What ends a run from outside while its worker waits for something else. Every wait of a run goes
// through here, so that none outlasts the wall, a stop or the script itself.
#pragma once

#include <optional>
#include <vector>

#include "base/time.h"

namespace coderunner::executor {

enum class RunEnd {
  wall,          // the run has used up executor.wall
  stop,          // the executor was told to stop
  script_ended,  // the script process has ended; its wait status is known
  script_lost,   // the zygote has died, and the script with it
  fenced,        // somebody else has ended the row
  client_gone,   // of a run in the test lane: nobody waits for it any more
};

class RunWatch {
 public:
  virtual ~RunWatch() = default;
  virtual MonoTime wall() const = 0;
  // To poll for readability beside one's own; then look(). May change after each look().
  virtual std::vector<int> descriptors() const = 0;
  // Never waits. Once it has answered with an end it keeps answering with one.
  virtual std::optional<RunEnd> look() = 0;
  // Waits until `until`, or an end before it.
  virtual std::optional<RunEnd> wait_until(MonoTime until) = 0;
};

}  // namespace coderunner::executor
