#include <algorithm>

#include "adapters/sql/faces.h"
#include "adapters/sql/rows.h"
#include "adapters/sql/statements.h"
#include "base/ensure.h"
#include "base/text.h"
#include "domain/sent_changes.h"

namespace coderunner::sql {
namespace {

using BeginAnswer = std::variant<Begun, BeginRefused>;

// Anything but one changed row each is a refusal, and nothing of it stays.
Result<Keep> spend(Session& session, const Begin& begin, BeginAnswer& answer) {
  answer = BeginRefused{};
  const auto queued = session.query(text::kQueuedByJob, {begin.job});
  if (!queued) return queued.error();
  if (queued->empty()) return Keep::no;
  const ExecutionId execution{queued->front().number(0)};

  const auto started =
      session.execute(text::kBeginExecution, {begin.now, begin.run, begin.executor, execution});
  if (!started) return started.error();
  const auto spent = session.execute(text::kSpendNonce,
                                     {begin.job, begin.nonce, begin.now - limits::kNonceLifetime});
  if (!spent) return spent.error();
  if (*started != 1 || *spent != 1) return Keep::no;

  const auto rows = session.query(text::kBegun, {execution});
  if (!rows) return rows.error();
  if (rows->empty()) return Keep::no;
  answer = read_begun(rows->front());
  if (begin.before_commit) begin.before_commit(execution);
  return Keep::yes;
}

std::string kept_message(const LogLine& line) { return replace_invalid_utf8(line.message); }

// The id of the last line.
Result<std::int64_t> insert_lines(Session& session, ExecutionId execution,
                                  const std::vector<LogLine>& lines) {
  std::int64_t last = 0;
  for (const LogLine& line : lines) {
    const auto call = line.call ? std::optional{write_call(*line.call)} : std::nullopt;
    const auto id = session.insert(text::kInsertLog,
                                   {execution, line.at, line.level, kept_message(line), call});
    if (!id) return id.error();
    last = *id;
  }
  return last;
}

Result<bool> has_last_line(Session& session, ExecutionId execution, std::int64_t id,
                           const LogLine& line) {
  const auto mark = session.query(text::kFindLog, {id, execution, line.at, kept_message(line)});
  if (!mark) return mark.error();
  return !mark->empty();
}

}  // namespace

Result<bool> end_run(Session& session, const RunEnd& end) {
  const auto& [execution, run, outcome, now] = end;
  const auto code = outcome.code ? std::optional{number(*outcome.code)} : std::nullopt;
  const auto ended =
      session.execute(text::kEndRun, {to_text(outcome.status()), code,
                                      clamped(outcome.message, limits::kMaxErrorMessageBytes), now,
                                      execution, run});
  if (!ended) return ended.error();
  if (*ended == 0) return false;
  if (const auto scrubbed = session.execute(text::kScrubJob, {execution}); !scrubbed)
    return scrubbed.error();
  return true;
}

Result<bool> run_ended(Session& session, const RunEnd& end) {
  const auto mark = session.query(text::kRunEnded,
                                  {end.execution, to_text(end.outcome.status()), end.run, end.now});
  if (!mark) return mark.error();
  return !mark->empty();
}

Result<std::vector<std::string>> read_sent_changes(Session& session, ExecutionId execution) {
  const auto rows = session.query(text::kCalls, {execution, limits::kMaxSentRead});
  if (!rows) return rows.error();
  std::vector<LogLine> lines;
  std::ranges::transform(*rows, std::back_inserter(lines), read_log_line);
  return coderunner::sent_changes(lines);
}

Result<BeginAnswer> LedgerFace::begin(const Begin& begin) {
  return writer_.run<BeginAnswer>(
      // Crash window begin-uncommitted: the row is queued and its nonce unspent; a revoke frees it.
      // After the commit it is running and carries our identity, whose death can be proved.
      [&](Session& session, BeginAnswer& answer) { return spend(session, begin, answer); },
      [&](Session& session, BeginAnswer& answer) -> Result<bool> {
        const auto mine = session.query(text::kBegunByRun, {begin.job, begin.run});
        if (!mine) return mine.error();
        if (mine->empty()) return false;
        answer = read_begun(mine->front());
        return true;
      });
}

Result<FinishAnswer> LedgerFace::finish(ExecutionId execution, const RunId& run,
                                        const Outcome& outcome, UtcTime now) {
  const RunEnd end{execution, run, outcome, now};
  return writer_.run<FinishAnswer>(
      // Crash window finish-uncommitted: the row stays running until the next worker finishes it by
      // its run id, or its executor is proved dead.
      [&](Session& session, FinishAnswer& answer) -> Result<Keep> {
        const auto ended = end_run(session, end);
        if (!ended) return ended.error();
        answer = *ended ? FinishAnswer::finished : FinishAnswer::not_this_run;
        return *ended ? Keep::yes : Keep::no;
      },
      [&](Session& session, FinishAnswer& answer) {
        answer = FinishAnswer::finished;
        return run_ended(session, end);
      });
}

Result<Done> LedgerFace::append_log(ExecutionId execution, const std::vector<LogLine>& lines) {
  if (lines.empty()) return Done{};
  std::int64_t last = 0;
  return writer_.run<Done>(
      [&](Session& session, Done&) -> Result<Keep> {
        const auto inserted = insert_lines(session, execution, lines);
        if (!inserted) return inserted.error();
        last = *inserted;
        return Keep::yes;
      },
      [&](Session& session, Done&) {
        return has_last_line(session, execution, last, lines.back());
      });
}

Result<AnnounceAnswer> LedgerFace::announce(ExecutionId execution, const RunId& run,
                                            const std::vector<LogLine>& lines) {
  ensure(!lines.empty(), "an announcement says something");
  std::int64_t last = 0;
  return writer_.run<AnnounceAnswer>(
      // Crash window announce-uncommitted: nothing is sent. After the commit the line names what
      // may have been.
      [&](Session& session, AnnounceAnswer& answer) -> Result<Keep> {
        answer = AnnounceAnswer::not_this_run;
        const auto mine = session.query(text::kIsThisRun, {execution, run});
        if (!mine) return mine.error();
        if (mine->empty()) return Keep::no;
        const auto inserted = insert_lines(session, execution, lines);
        if (!inserted) return inserted.error();
        last = *inserted;
        answer = AnnounceAnswer::announced;
        return Keep::yes;
      },
      [&](Session& session, AnnounceAnswer& answer) {
        answer = AnnounceAnswer::announced;
        return has_last_line(session, execution, last, lines.back());
      });
}

Result<std::vector<std::string>> LedgerFace::sent_changes(ExecutionId execution) {
  return readers_.read<std::vector<std::string>>(
      [execution](Session& session) { return read_sent_changes(session, execution); });
}

}  // namespace coderunner::sql
