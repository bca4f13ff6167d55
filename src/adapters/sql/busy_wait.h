// Waiting for another connection's lock, by ourselves: 1 to 5 ms with jitter, 5 s in all (rulings
// 29), because the engine's own handler has no order. Used by the commit queue, the reader pool and
// the openings, each on its own thread. Must never wait for anything but a lock.
#pragma once

#include <functional>

#include "adapters/sql/session.h"
#include "domain/limits.h"
#include "seams/clock.h"
#include "seams/entropy.h"

namespace coderunner::sql {

struct WaitPolicy {
  Millis shortest = limits::kStoreWaitMin;
  Millis longest = limits::kStoreWaitMax;
  Millis budget = limits::kStoreWaitBudget;
};

class BusyWait {
 public:
  using Pause = std::function<void(Millis)>;  // the system adapter's sleep; thread-safe
  BusyWait(const Clock& clock, Entropy& entropy, Pause pause, WaitPolicy policy);

  // Calls `attempt` until it succeeds, fails otherwise than by a lock of another connection of
  // `session`, or the budget is spent; the last answer is the answer.
  template <class Attempt>
  auto until_free(const Session& session, Attempt attempt) const {
    const auto locked_out = [&session](const auto& answer) {
      return !answer && answer.error().kind == Failure::unavailable && session.was_busy();
    };
    auto answer = attempt();
    if (!locked_out(answer)) return answer;
    const MonoTime deadline = clock_.mono_now() + policy_.budget;
    while (locked_out(answer) && clock_.mono_now() < deadline) {
      pause_(jittered());
      answer = attempt();
    }
    return answer;
  }

  void pause_briefly() const { pause_(policy_.shortest); }

 private:
  Millis jittered() const;

  const Clock& clock_;
  Entropy& entropy_;
  Pause pause_;
  WaitPolicy policy_;
};

}  // namespace coderunner::sql
