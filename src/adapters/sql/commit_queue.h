// The one writer of a process: units of work that arrive together share one durable commit, a lone
// unit never waits, nobody is answered before COMMIT, and one unit's failure is its own (rulings
// 28, 29). Called by the faces from any thread. A unit must be re-runnable: it sets what it
// captured anew on every run, and never assumes that an earlier run took effect.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "adapters/sql/busy_wait.h"
#include "adapters/sql/session.h"
#include "adapters/sql/waiters.h"
#include "seams/events.h"

namespace coderunner::sql {

enum class Keep { yes, no };  // no: the unit's writes are undone, its answer stands

struct Unit {
  // Inside the open transaction. A failure undoes the unit's own writes only.
  std::function<Result<Keep>(Session&)> run;
  // After a commit of unknown outcome: whether the unit's own mark is stored. Where it is, the unit
  // is not run again. Empty: running it again is harmless.
  std::function<Result<bool>(Session&)> landed;
  // Kept, it changes no number of queued rows that the units after it could not know of.
  bool counts_itself = false;
  // Once, on the writer's thread; nullopt: durable. Must not call the store and wait.
  std::function<void(const std::optional<Error>&)> done;
};

enum class Writer { own_thread, caller };  // caller: for a single-threaded process

class CommitQueue {
 public:
  // `waiters` may be null: no other process writes then.
  struct Parts {
    std::unique_ptr<Session> session;
    BusyWait wait;
    std::unique_ptr<Waiters> waiters;
    Writer writer = Writer::own_thread;
  };
  CommitQueue(Parts parts, Events& events);
  // Runs what was submitted, then ends.
  ~CommitQueue();
  CommitQueue(const CommitQueue&) = delete;
  CommitQueue& operator=(const CommitQueue&) = delete;

  void submit(Unit unit);

  // Why the store could not be written when that was last tried; nullopt once a write was durable
  // since. Thread-safe.
  std::optional<Error> trouble() const;

  // Inside a unit: the same as in a unit before it where both are of one transaction and every unit
  // kept in between counts itself, so that what was counted then holds still.
  std::uint64_t generation() const { return generation_; }

  // Submits and waits; not on the writer's own thread. `run` sets the value it is given.
  template <class T>
  Result<T> run(std::function<Result<Keep>(Session&, T&)> run,
                std::function<Result<bool>(Session&, T&)> landed = {}) {
    ensure(!on_writers_thread(), "a unit of the commit queue must not wait for another one");
    T value{};
    auto answered = std::make_shared<std::promise<std::optional<Error>>>();
    Unit unit;
    unit.run = [&](Session& session) { return run(session, value = T{}); };
    if (landed) unit.landed = [&](Session& session) { return landed(session, value); };
    unit.done = [answered](const std::optional<Error>& error) { answered->set_value(error); };
    submit(std::move(unit));
    if (auto error = answered->get_future().get()) return *error;
    return value;
  }

 private:
  enum class Outcome { committed, undone, unknown };
  struct Attempt {
    Outcome outcome = Outcome::undone;
    std::optional<Error> error;
    bool store_away = false;  // not even a transaction could be opened
    bool wrote = false;       // something that a commit then made durable
  };
  // Of a unit whose shared commit failed: whether it may be stored all the same.
  enum class Doubt { none, mark_tells, nobody_knows };
  struct Ran {  // a unit inside a shared transaction
    std::optional<Error> failure;
    bool kept = false;
  };

  bool on_writers_thread() const;
  void serve();
  void commit_all(std::span<Unit> units);
  // Each answers why the store could not be written at all; its units that were not answered yet
  // are the caller's to answer then.
  std::optional<Error> commit_together(std::span<Unit> units);
  std::optional<Error> commit_apart(std::span<Unit> units, const std::vector<Doubt>& doubts);
  std::optional<Error> commit_alone(Unit& unit, Doubt doubt);
  Attempt try_alone(Unit& unit);
  static Doubt doubt_of(const Unit& unit, const Attempt& attempt);
  enum class Mark { stored, absent, unreadable };
  Mark read_mark(Unit& unit);

  Result<Done> begin();
  Attempt commit();
  void roll_back();
  // False where the transaction is gone: nothing of this batch is stored.
  bool run_guarded(Unit& unit, Ran& ran);
  void leave_gap();
  void note_batch(std::span<const Ran> ran);
  void note(const std::optional<Error>& failure, bool wrote);

  std::unique_ptr<Session> session_;
  BusyWait wait_;
  std::unique_ptr<Waiters> waiters_;
  Events& events_;
  const Writer writer_;
  std::uint64_t generation_ = 0;  // who holds the session

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::optional<Error> trouble_;
  std::vector<Unit> queued_;
  bool stopping_ = false;
  std::mutex session_mutex_;  // Writer::caller only
  std::thread thread_;
};

}  // namespace coderunner::sql
