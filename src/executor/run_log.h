// The log lines of one run on their way to the store: cleaned, cut, counted against the run's
// share, written in batches. Owned by the run; the broker writes its calls through it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/execution.h"
#include "seams/clock.h"
#include "seams/store.h"

namespace coderunner::executor {

// Valid UTF-8 without NUL, which not every store keeps; at most `max_bytes`, with a mark where cut.
std::string storable_text(std::string_view text, std::size_t max_bytes);

struct LoggedRun {
  ExecutionId execution;
  RunId run;
};

class RunLog {
 public:
  RunLog(Ledger& ledger, const Clock& clock, LoggedRun run)
      : ledger_(ledger), clock_(clock), run_(std::move(run)) {}

  // Beyond limits::kMaxLogBytesPerRun one line says that the rest is cut.
  void say(std::string_view level, std::string_view message);
  // A call that may have changed something is kept whatever has been written before.
  enum class Keep { within_share, always };
  void note_call(std::string_view level, std::string_view message, const ApiCall& call, Keep keep);

  // A call about to be sent. The line is durable, with all before it, where it answers `announced`;
  // otherwise it is dropped: nothing was sent. Never counted against the share.
  // Only where may_announce(): a run's changes are bounded, so that its end can name them all.
  bool may_announce(const ApiCall& call) const;
  Result<AnnounceAnswer> announce(std::string_view message, const ApiCall& call);

  bool has_pending() const { return !pending_.empty(); }
  std::size_t pending() const { return pending_.size(); }
  // Durable where it answers Done; on a failure the lines stay pending.
  Result<Done> flush();
  // The same, but after a failure not before the store has had a pause; failures are not told.
  void flush_when_due();
  void drop_pending() { pending_.clear(); }

 private:
  bool has_room(std::size_t bytes);
  LogLine line(std::string_view level, std::string_view message,
               const std::optional<ApiCall>& call) const;

  Ledger& ledger_;
  const Clock& clock_;
  LoggedRun run_;
  std::vector<LogLine> pending_;
  std::size_t bytes_ = 0;
  bool is_cut_ = false;
  int changes_ = 0;
  std::size_t change_bytes_ = 0;
  MonoTime not_before_{};
};

}  // namespace coderunner::executor
