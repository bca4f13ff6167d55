#include "executor/row_finish.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "domain/limits.h"
#include "domain/sent_changes.h"
#include "executor/poll_until.h"

namespace coderunner::executor {
namespace {

class Finish {
 public:
  Finish(const RowToFinish& row, const FinishParts& parts)
      : row_(row),
        parts_(parts),
        outcome_(row.outcome),
        is_told_(row.whose == RowOf::this_worker) {}

  bool run() {
    Millis pause = limits::kStoreRetryMin;
    while (!try_once()) {
      if (is_given_up()) {
        tell(Level::error, "finish_given_up", last_error_);
        return false;
      }
      if (pause == limits::kStoreRetryMin) tell(Level::warn, "finish_waits", last_error_);
      wait(pause);
      pause = std::min(pause * 2, limits::kStoreRetryMax);
    }
    return true;
  }

 private:
  bool try_once() {
    parts_.slot.board.enter(parts_.slot.number, Stage::finishing, parts_.clock.mono_now());
    if (row_.log != nullptr && !flush_log()) return false;
    if (!is_told_ && !tell_what_it_had_sent()) return false;
    const auto answer =
        parts_.ledger.finish(row_.execution, row_.run, outcome_, parts_.clock.utc_now());
    if (!answer) {
      last_error_ = answer.error().message;
      return false;
    }
    if (*answer == FinishAnswer::not_this_run)
      tell(Level::info, "finish_too_late", "the row has its end already");
    return true;
  }

  bool tell_what_it_had_sent() {
    const auto sent = parts_.ledger.sent_changes(row_.execution);
    if (!sent) {
      last_error_ = sent.error().message;
      return false;
    }
    outcome_.message = reaped(row_.outcome.message, *sent);
    is_told_ = true;
    return true;
  }

  bool flush_log() {
    const auto kept = row_.log->flush();
    if (kept) return true;
    last_error_ = kept.error().message;
    const Failure kind = kept.error().kind;
    if (kind == Failure::unavailable || kind == Failure::unknown_outcome) return false;
    // A line the store will never take must not keep the row from its end.
    tell(Level::error, "log_lost", last_error_);
    row_.log->drop_pending();
    return true;
  }

  bool is_given_up() {
    parts_.master.read();
    if (!parts_.master.must_stop()) return false;
    const MonoTime now = parts_.clock.mono_now();
    if (!give_up_at_) give_up_at_ = now + limits::kStopFinish;
    return now >= *give_up_at_;
  }

  // Any message may be the one to stop: it ends the pause early.
  void wait(Millis pause) {
    pollfd master{parts_.master.descriptor(), POLLIN, 0};
    poll_until({&master, 1}, parts_.clock.mono_now() + pause, parts_.clock);
  }

  void tell(Level level, std::string_view name, std::string error) const {
    parts_.events.record({level, name, row_.execution, {{"error", std::move(error)}}});
  }

  const RowToFinish& row_;
  const FinishParts& parts_;
  Outcome outcome_;
  bool is_told_;
  std::string last_error_;
  std::optional<MonoTime> give_up_at_;
};

}  // namespace

bool finish_row(const RowToFinish& row, const FinishParts& parts) {
  return Finish{row, parts}.run();
}

}  // namespace coderunner::executor
