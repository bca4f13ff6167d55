#include "adapters/sql/commit_queue.h"

#include <algorithm>
#include <string>

namespace coderunner::sql {
namespace {

Error unknown_outcome(const std::optional<Error>& cause) {
  return fail(Failure::unknown_outcome,
              "the commit may or may not have taken effect: " + (cause ? cause->message : ""));
}

// Failures of the store itself, not of what a unit wanted to write.
bool blames_store(const Error& error) {
  return error.kind != Failure::conflict && error.kind != Failure::invalid_input;
}

void answer_all(std::span<Unit> units, const std::optional<Error>& error) {
  for (Unit& unit : units) unit.done(error);
}

}  // namespace

CommitQueue::CommitQueue(Parts parts, Events& events)
    : session_(std::move(parts.session)),
      wait_(std::move(parts.wait)),
      waiters_(std::move(parts.waiters)),
      events_(events),
      writer_(parts.writer) {
  if (writer_ == Writer::own_thread) thread_ = std::thread{[this] { serve(); }};
}

CommitQueue::~CommitQueue() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  arrived_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void CommitQueue::submit(Unit unit) {
  if (writer_ == Writer::caller) {
    const std::lock_guard lock{session_mutex_};
    commit_all({&unit, 1});
    return;
  }
  {
    const std::lock_guard lock{mutex_};
    queued_.push_back(std::move(unit));
  }
  arrived_.notify_one();
}

bool CommitQueue::on_writers_thread() const {
  return std::this_thread::get_id() == thread_.get_id();
}

void CommitQueue::serve() {
  std::unique_lock lock{mutex_};
  for (;;) {
    arrived_.wait(lock, [this] { return stopping_ || !queued_.empty(); });
    if (queued_.empty()) return;
    std::vector<Unit> taken = std::exchange(queued_, {});
    lock.unlock();
    commit_all(taken);
    lock.lock();
  }
}

void CommitQueue::commit_all(std::span<Unit> units) {
  while (!units.empty()) {
    const auto batch = units.first(std::min(units.size(), limits::kMaxUnitsPerCommit));
    units = units.subspan(batch.size());
    if (const auto away = commit_together(batch)) {
      answer_all(units, away);  // they have waited as long as this batch did
      return;
    }
    leave_gap();
  }
}

std::optional<Error> CommitQueue::commit_together(std::span<Unit> units) {
  if (const auto begun = begin(); !begun) {
    note(begun.error(), false);
    answer_all(units, begun.error());
    return begun.error();
  }
  std::vector<Ran> ran(units.size());
  for (std::size_t i = 0; i < units.size(); ++i)
    if (!run_guarded(units[i], ran[i]))
      return commit_apart(units, std::vector<Doubt>(units.size(), Doubt::none));

  // Crash window batch-uncommitted: every unit of the batch is lost, none was answered.
  const Attempt committed = commit();
  // Crash window batch-unanswered: stored, and their callers find them by their marks.
  if (committed.outcome != Outcome::committed) {
    // A unit that failed in there wrote nothing: a mark like its own is another one's.
    std::vector<Doubt> doubts;
    for (std::size_t i = 0; i < units.size(); ++i)
      doubts.push_back(ran[i].failure ? Doubt::none : doubt_of(units[i], committed));
    return commit_apart(units, doubts);
  }
  note_batch(ran);
  for (std::size_t i = 0; i < units.size(); ++i) units[i].done(ran[i].failure);
  return std::nullopt;
}

CommitQueue::Doubt CommitQueue::doubt_of(const Unit& unit, const Attempt& attempt) {
  if (attempt.outcome != Outcome::unknown) return Doubt::none;
  // A mark that is absent now may be stored one day (Session: unknown_outcome).
  const bool may_surface = attempt.error && attempt.error->kind == Failure::unknown_outcome;
  return may_surface || !unit.landed ? Doubt::nobody_knows : Doubt::mark_tells;
}

// The shared transaction is gone, and with it the rows of units that did nothing wrong.
std::optional<Error> CommitQueue::commit_apart(std::span<Unit> units,
                                               const std::vector<Doubt>& doubts) {
  const bool unknown =
      std::ranges::any_of(doubts, [](Doubt doubt) { return doubt != Doubt::none; });
  events_.record({.level = Level::warn,
                  .name = "commit_fell_apart",
                  .execution = std::nullopt,
                  .fields = {{"units", std::to_string(units.size())},
                             {"outcome", unknown ? "unknown" : "undone"}}});
  for (std::size_t i = 0; i < units.size(); ++i) {
    const Mark mark = doubts[i] == Doubt::none ? Mark::absent : read_mark(units[i]);
    if (mark == Mark::stored) {
      note(std::nullopt, true);
      units[i].done(std::nullopt);
    }
    if (mark == Mark::unreadable) {
      note(unknown_outcome(std::nullopt), false);
      answer_all(units.subspan(i), unknown_outcome(std::nullopt));
      return unknown_outcome(std::nullopt);
    }
    if (mark != Mark::absent) continue;
    if (const auto away = commit_alone(units[i], doubts[i])) {
      answer_all(units.subspan(i + 1), unknown ? unknown_outcome(away) : *away);
      return away;
    }
  }
  return std::nullopt;
}

// What may be stored, and can not be asked about, was not refused by failing now.
std::optional<Error> CommitQueue::commit_alone(Unit& unit, Doubt doubt) {
  bool doubted = doubt == Doubt::nobody_knows;
  for (bool again = true;; again = false) {
    Attempt attempt = try_alone(unit);
    const bool unknown = attempt.outcome == Outcome::unknown;
    const Mark mark = unknown ? read_mark(unit) : Mark::absent;
    doubted = doubted || doubt_of(unit, attempt) == Doubt::nobody_knows || mark == Mark::unreadable;
    if (unknown && again && mark == Mark::absent) continue;
    if (mark == Mark::stored) attempt.error = std::nullopt;
    if (doubted && attempt.error) attempt.error = unknown_outcome(attempt.error);
    note(attempt.error, attempt.wrote);
    unit.done(attempt.error);
    return attempt.store_away ? attempt.error : std::nullopt;
  }
}

CommitQueue::Attempt CommitQueue::try_alone(Unit& unit) {
  if (const auto begun = begin(); !begun) return {Outcome::undone, begun.error(), true};
  const auto kept = unit.run(*session_);
  if (!kept) {
    roll_back();
    return {Outcome::undone, kept.error()};
  }
  if (*kept == Keep::no) {
    roll_back();
    return {Outcome::committed, std::nullopt};
  }
  Attempt attempt = commit();
  attempt.wrote = attempt.outcome == Outcome::committed;
  return attempt;
}

CommitQueue::Mark CommitQueue::read_mark(Unit& unit) {
  if (!unit.landed) return Mark::absent;
  const auto landed = wait_.until_free(*session_, [&]() -> Result<bool> {
    if (const auto usable = session_->ensure_usable(); !usable) return usable.error();
    return unit.landed(*session_);
  });
  if (!landed) return Mark::unreadable;
  return *landed ? Mark::stored : Mark::absent;
}

Result<Done> CommitQueue::begin() {
  ++generation_;
  const auto once = [this]() -> Result<Done> {
    if (auto usable = session_->ensure_usable(); !usable) return usable;
    const auto begun = session_->execute("BEGIN IMMEDIATE");
    if (!begun) return begun.error();
    return Done{};
  };
  auto begun = once();
  if (!begun && !session_->was_busy()) begun = once();  // the session was broken: on a new one
  if (begun || !session_->was_busy()) return begun;
  if (waiters_) waiters_->arrive();
  begun = wait_.until_free(*session_, once);
  if (waiters_) waiters_->leave();
  return begun;
}

CommitQueue::Attempt CommitQueue::commit() {
  const auto done = wait_.until_free(*session_, [this] { return session_->execute("COMMIT"); });
  if (done) return {Outcome::committed, std::nullopt};
  if (!session_->in_transaction()) return {Outcome::unknown, done.error()};
  roll_back();
  return {Outcome::undone, done.error()};
}

// Where even this fails the next begin finds the transaction still open and opens a new session.
void CommitQueue::roll_back() {
  if (session_->in_transaction()) static_cast<void>(session_->execute("ROLLBACK"));
}

bool CommitQueue::run_guarded(Unit& unit, Ran& ran) {
  if (!session_->execute("SAVEPOINT unit")) {
    roll_back();
    return false;
  }
  const auto kept = unit.run(*session_);
  // A savepoint isolates nothing once the engine has ended the transaction by itself.
  if (!session_->in_transaction()) return false;
  bool intact = true;
  if (!kept || *kept == Keep::no) intact = session_->execute("ROLLBACK TO unit").has_value();
  intact = intact && session_->execute("RELEASE unit").has_value();
  if (!intact) roll_back();
  if (!kept) ran.failure = kept.error();
  ran.kept = kept && *kept == Keep::yes;
  if (ran.kept && !unit.counts_itself) ++generation_;
  return intact;
}

std::optional<Error> CommitQueue::trouble() const {
  const std::lock_guard lock{mutex_};
  return trouble_;
}

void CommitQueue::note_batch(std::span<const Ran> ran) {
  const auto failed = std::ranges::find_if(
      ran, [](const Ran& one) { return one.failure && blames_store(*one.failure); });
  note(failed == ran.end() ? std::nullopt : failed->failure, std::ranges::any_of(ran, &Ran::kept));
}

// What wrote nothing says nothing: an empty transaction commits on a full disk too.
void CommitQueue::note(const std::optional<Error>& failure, bool wrote) {
  const bool failed = failure && blames_store(*failure);
  if (!failed && !wrote) return;
  const std::unique_lock lock{mutex_};
  const bool was_failing = trouble_.has_value();
  trouble_ = failed ? failure : std::nullopt;
  if (failed == was_failing) return;
  events_.record({.level = failed ? Level::error : Level::info,
                  .name = failed ? "store_not_written" : "store_written_again",
                  .execution = std::nullopt,
                  .fields = {{"error", failed ? failure->message : ""}}});
}

// Other processes look every few milliseconds; a queue that begins again at once is always first.
void CommitQueue::leave_gap() {
  if (!waiters_ || writer_ == Writer::caller) return;
  for (Millis left = limits::kStoreWaitMax; left > Millis{0} && waiters_->others();
       left -= limits::kStoreWaitMin)
    wait_.pause_briefly();
}

}  // namespace coderunner::sql
