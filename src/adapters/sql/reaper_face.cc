#include <algorithm>

#include "adapters/sql/faces.h"
#include "adapters/sql/rows.h"
#include "adapters/sql/statements.h"

namespace coderunner::sql {
namespace {

struct Due {
  UtcTime since;
  ExecutionId execution;
  std::optional<JobId> job;
};
using DueRows = std::vector<Due>;

Result<DueRows> read_due(Session& session, std::string_view text, UtcTime cutoff, int most) {
  DueRows due;
  for (const Status status : {Status::success, Status::error}) {
    const auto rows = session.query(text, {to_text(status), cutoff, most});
    if (!rows) return rows.error();
    for (const Row& row : *rows) {
      std::optional<JobId> job;
      if (const auto number = row.maybe_number(1)) job = JobId{*number};
      due.push_back({row.time(2), {row.number(0)}, job});
    }
  }
  std::ranges::sort(due, {}, [](const Due& one) { return std::pair{one.since, one.execution}; });
  due.resize(std::min(due.size(), static_cast<std::size_t>(most)));
  return due;
}

// One more than fits, so that the batch knows whether it is full. Old writers' rows come last:
// their range holds all others too for as long as those are due.
Result<DueRows> read_all_due(Session& session, const PurgeBatch& batch) {
  const int most = std::max(batch.rows, 0) + 1;
  auto due = read_due(session, text::kFinishedBefore, batch.queued_before, most);
  if (!due || std::ssize(*due) == most) return due;
  const auto older = read_due(session, text::kFinishedBeforeOfOldWriters, batch.queued_before,
                              most - static_cast<int>(due->size()));
  if (!older) return older.error();
  due->insert(due->end(), older->begin(), older->end());
  return due;
}

// False where the row has more lines than the batch may still take.
Result<bool> delete_lines(Session& session, ExecutionId execution, int most, Purged& purged) {
  const auto lines = session.execute(text::kDeleteLines, {execution, most});
  if (!lines) return lines.error();
  purged.log_lines += static_cast<int>(*lines);
  if (*lines < most) return true;
  const auto left = session.query(text::kAnyLine, {execution});
  if (!left) return left.error();
  return left->empty();
}

Result<Done> delete_row(Session& session, const Due& row, Purged& purged) {
  const auto gone = session.execute(text::kDeleteFinished, {row.execution});
  if (!gone) return gone.error();
  purged.rows += static_cast<int>(*gone);
  if (*gone == 0 || !row.job) return Done{};
  if (const auto job = session.execute(text::kDeleteJob, {*row.job}); !job) return job.error();
  return Done{};
}

Result<Keep> purge_due(Session& session, const PurgeBatch& batch, const DueRows& due,
                       Purged& purged) {
  for (const Due& row : due) {
    purged.more = true;
    const int lines_left = batch.log_lines - purged.log_lines;
    if (purged.rows >= batch.rows || lines_left <= 0) return Keep::yes;
    const auto bare = delete_lines(session, row.execution, lines_left, purged);
    if (!bare) return bare.error();
    if (!*bare) return Keep::yes;
    if (const auto gone = delete_row(session, row, purged); !gone) return gone.error();
  }
  purged.more = false;
  return Keep::yes;
}

Result<Keep> end_if_still_so(Session& session, const NeverDispatched& verdict,
                             const GatePolicy& gate, bool& ended) {
  const auto changed = session.execute(
      text::kEndNeverDispatched,
      {number(ErrorCode::ended_from_outside),
       clamped(verdict.message, limits::kMaxErrorMessageBytes), verdict.now, verdict.execution,
       verdict.queued_before, verdict.now, latest_gate(verdict.now, gate), verdict.no_tick_since});
  if (!changed) return changed.error();
  ended = *changed == 1;
  if (!ended) return Keep::no;
  const auto scrubbed = session.execute(text::kScrubJob, {verdict.execution});
  if (!scrubbed) return scrubbed.error();
  return Keep::yes;
}

Result<std::optional<UtcTime>> read_time(Session& session, std::string_view text) {
  const auto rows = session.query(text);
  if (!rows) return rows.error();
  return rows->empty() ? std::optional<UtcTime>{} : rows->front().maybe_time(0);
}

}  // namespace

Result<std::vector<RunningRow>> ReaperFace::running() {
  return readers_.read<std::vector<RunningRow>>(read_running_rows);
}

Result<bool> ReaperFace::abandon(ExecutionId execution, const std::optional<RunId>& run,
                                 const std::string& reason, UtcTime now) {
  return abandon_run(writer_, {execution, run, reason, now});
}

Result<std::vector<OldQueuedRow>> ReaperFace::queued_before(UtcTime cutoff, UtcTime now,
                                                            int limit) {
  using Old = std::vector<OldQueuedRow>;
  return readers_.read<Old>([&](Session& session) -> Result<Old> {
    const auto rows =
        session.query(text::kOldQueued, {cutoff, now, latest_gate(now, gate_), std::max(limit, 0)});
    if (!rows) return rows.error();
    Old old;
    for (const Row& row : *rows) old.push_back({{row.number(0)}, row.time(1)});
    return old;
  });
}

Result<bool> ReaperFace::end_never_dispatched(const NeverDispatched& verdict) {
  const RunEnd mark{
      verdict.execution, {}, {ErrorCode::ended_from_outside, verdict.message}, verdict.now};
  return writer_.run<bool>(
      [&](Session& session, bool& ended) {
        return end_if_still_so(session, verdict, gate_, ended);
      },
      [&](Session& session, bool& ended) {
        ended = true;
        return run_ended(session, mark);
      });
}

Result<std::optional<UtcTime>> ReaperFace::last_tick() {
  return readers_.read<std::optional<UtcTime>>(
      [](Session& session) { return read_time(session, text::kLastTick); });
}

// Reads first: a sweep that finds nothing must not take the write lock.
Result<int> ReaperFace::change_due(std::string_view due, std::string_view change,
                                   const Values& values) {
  const auto some = readers_.read<bool>([&](Session& session) -> Result<bool> {
    const auto rows = session.query(due, values);
    if (!rows) return rows.error();
    return !rows->empty();
  });
  if (!some) return some.error();
  if (!*some) return 0;
  return writer_.run<int>([&](Session& session, int& changed) -> Result<Keep> {
    const auto rows = session.execute(change, values);
    if (!rows) return rows.error();
    changed = static_cast<int>(*rows);
    return Keep::yes;
  });
}

Result<int> ReaperFace::scrub_keys(UtcTime started_before, int most) {
  return change_due(text::kKeysToScrub, text::kScrubKeys, {started_before, std::max(most, 0)});
}

Result<int> ReaperFace::forget_idempotency_keys(UtcTime queued_before, int most) {
  return change_due(text::kIdempotencyKeysToForget, text::kForgetIdempotencyKeys,
                    {queued_before, std::max(most, 0)});
}

Result<int> ReaperFace::purge_audit(UtcTime before, int most) {
  return change_due(text::kOldAudit, text::kPurgeAudit, {before, std::max(most, 0)});
}

Result<int> ReaperFace::forget_gates(UtcTime opened_before, int most) {
  return change_due(text::kOldGates, text::kForgetGates, {opened_before, std::max(most, 0)});
}

Result<std::optional<UtcTime>> ReaperFace::newest_queued_at() {
  return readers_.read<std::optional<UtcTime>>(
      [](Session& session) { return read_time(session, text::kNewestQueued); });
}

// Crash window purge-uncommitted: the whole batch still stands. What was read before it can only
// have stayed finished.
Result<Purged> ReaperFace::purge(const PurgeBatch& batch) {
  const auto due =
      readers_.read<DueRows>([&](Session& session) { return read_all_due(session, batch); });
  if (!due) return due.error();
  if (due->empty()) return Purged{};
  return writer_.run<Purged>(
      [&](Session& session, Purged& purged) { return purge_due(session, batch, *due, purged); });
}

Result<Done> ReaperFace::record_sweep(UtcTime now) {
  return writer_.run<Done>([now](Session& session, Done&) -> Result<Keep> {
    const auto swept = session.execute(text::kSweep, {now});
    if (!swept) return swept.error();
    if (*swept > 0) return Keep::yes;
    if (const auto first = session.execute(text::kFirstSweep, {now}); !first) return first.error();
    return Keep::yes;
  });
}

}  // namespace coderunner::sql
