// Starts the executor's master by fork and exec of this very program and starts a dead one again
// with back-off (rulings 26). Owned by `serve`, used by its main loop's thread only, but for
// open_test_run() and figures(), which any thread may call. Never forks without exec, and passes on
// nothing but the descriptors roles.h lists.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "executor/descriptor.h"
#include "executor/scoreboard.h"
#include "seams/clock.h"
#include "seams/events.h"

namespace coderunner::executor {

struct LauncherOptions {
  std::string settings;  // text, handed to the master and its workers as it is
  int listener = -1;     // a bound, listening stream socket; borrowed
  int max_children = 0;  // slots of the scoreboard
};

struct PoolFigures {  // for `executor` in GET /queue/data
  int children = 0;
  int running = 0;  // children with a run that has not ended
  int max_children = 0;
  std::uint64_t max_children_reached = 0;  // since this launcher was made, over masters
  friend bool operator==(const PoolFigures&, const PoolFigures&) = default;
};

// How long to wait before the next start: 100 ms doubling to 5 s with each start in a row; a master
// that lived for 10 s counts as a fresh one (issue 2, rulings 26). `starts` counts from 1.
Millis restart_delay(int starts);

class Launcher {
 public:
  Launcher(LauncherOptions options, const Clock& clock, Events& events);
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  // The parent channel closes: a master that still runs lets its runs end and exits by itself.
  ~Launcher();

  // unavailable where the process can not be made; tend() tries again in any case.
  Result<Done> start();
  // A pidfd: readable once the master has died. -1 while none runs.
  int exit_descriptor() const { return master_.get(); }
  // To be called when exit_descriptor() is readable and when the time it answered has come: reaps a
  // dead master, starts the next one when its back-off is over. nullopt: nothing to wait for but
  // exit_descriptor().
  std::optional<MonoTime> tend();
  // Every run is cut and its row finished 303 "stopped"; then the master exits. SIGKILLs the master
  // if it still lives after `at_most` (its workers then still finish their rows). Blocks that long.
  void stop(Millis at_most);

  // A socket whose other end the master has been sent, for one run in the test lane: see
  // test_call.h. Nobody else can reach the lane. unavailable while no master runs.
  Result<Descriptor> open_test_run();

  PoolFigures figures() const;

 private:
  bool reap(int wait_flags);

  LauncherOptions options_;
  const Clock& clock_;
  Events& events_;
  Descriptor settings_;
  Descriptor master_;         // pidfd
  mutable std::mutex mutex_;  // of what other threads look at:
  Descriptor channel_;        // EOF = this process died
  std::optional<Scoreboard> scoreboard_;
  std::uint64_t reached_before_ = 0;  // of the masters before this one
  MonoTime started_at_{};
  std::optional<MonoTime> start_again_at_;
  int starts_in_a_row_ = 0;
};

}  // namespace coderunner::executor
