// A worker's place in its pool: the channel to its master, its slot on the scoreboard, and the loop
// between orders. Used by the worker and by the test lane's worker, each of which obeys orders of
// its own. Single-threaded.
#pragma once

#include <optional>
#include <utility>

#include "executor/master_link.h"
#include "executor/scoreboard.h"
#include "seams/clock.h"
#include "seams/events.h"

namespace coderunner::executor {

class WorkerPlace {
 public:
  // Makes this process a worker on the descriptors of roles.h. nullopt, and told, where it can be
  // none.
  static std::optional<WorkerPlace> take(const char* process_name, const Clock& clock,
                                         Events& events);

  // Waits for it; nullopt: leave, the master says so or has died.
  std::optional<Message> next_order();
  void enter(Stage stage) { board_.enter(slot_, stage, clock_->mono_now()); }
  void tell_idle();

  MasterLink& master() { return master_; }
  WorkerSlot slot() { return {board_, slot_}; }

 private:
  WorkerPlace(Scoreboard board, const Clock& clock);

  Scoreboard board_;
  MasterLink master_;
  const Clock* clock_;
  int slot_ = 0;
};

}  // namespace coderunner::executor
