#include <algorithm>
#include <limits>
#include <map>

#include "adapters/sql/faces.h"
#include "adapters/sql/rows.h"
#include "adapters/sql/statements.h"
#include "base/text.h"

namespace coderunner::sql {
namespace {

// One beyond a page tells its reader whether there is a next one.
std::int64_t page(int limit) { return std::clamp(limit, 1, limits::kMaxListed + 1); }

// The first row as `read` sees it; nothing where there is none.
template <class T, class Read>
Result<std::optional<T>> first_row(const Result<Rows>& rows, Read read) {
  if (!rows) return rows.error();
  if (rows->empty()) return std::optional<T>{};
  return std::optional<T>{read(rows->front())};
}

template <class T, class Read>
Result<std::vector<T>> all_rows(const Result<Rows>& rows, Read read) {
  if (!rows) return rows.error();
  std::vector<T> all;
  all.reserve(rows->size());
  std::ranges::transform(*rows, std::back_inserter(all), read);
  return all;
}

std::optional<std::string> readable(const Row& row, std::size_t column) {
  const auto text = row.maybe_text(column);
  return text ? std::optional{replace_invalid_utf8(*text)} : std::nullopt;
}

using Accounts = std::map<std::optional<std::string>, AccountFigures>;

Result<Done> count_queued(Session& session, Accounts& accounts, QueueFigures& figures) {
  const auto lanes = session.query(text::kQueuedByLane);
  if (!lanes) return lanes.error();
  for (const Row& row : *lanes) {
    const int queued = static_cast<int>(row.number(2));
    const UtcTime oldest = row.time(3);
    figures.lanes.push_back({{row.text(0)}, maybe_id<ApiKeyHash>(row, 1), queued, oldest});
    AccountFigures& account = accounts[row.maybe_text(0)];
    account.queued += queued;
    account.oldest_queued_at = std::min(account.oldest_queued_at.value_or(oldest), oldest);
  }
  return Done{};
}

Result<Done> count_running(Session& session, Accounts& accounts) {
  const auto running = session.query(text::kRunningByAccount);
  if (!running) return running.error();
  for (const Row& row : *running)
    accounts[row.maybe_text(0)].in_flight = static_cast<int>(row.number(1));
  return Done{};
}

Result<Done> read_outstanding(Session& session, QueueFigures& figures) {
  const auto rows = session.query(text::kOutstanding);
  if (!rows) return rows.error();
  for (const Row& row : *rows)
    figures.outstanding.push_back({{row.number(0)}, {row.text(1)}, maybe_id<ApiKeyHash>(row, 2)});
  std::ranges::sort(figures.outstanding, {}, &Occupied::execution);
  return Done{};
}

Result<Done> read_heartbeat(Session& session, QueueFigures& figures) {
  const auto rows = session.query(text::kNewestHeartbeat);
  if (!rows) return rows.error();
  if (rows->empty()) return Done{};
  const Row& newest = rows->front();
  figures.last_tick = newest.maybe_time(0);
  const auto until = newest.maybe_time(2);
  if (until) figures.trouble = ExecutorTrouble{readable(newest, 1).value_or(""), *until};
  return Done{};
}

Result<QueueFigures> read_figures(Session& session) {
  QueueFigures figures;
  Accounts accounts;
  if (const auto out = read_outstanding(session, figures); !out) return out.error();
  if (const auto queued = count_queued(session, accounts, figures); !queued) return queued.error();
  if (const auto running = count_running(session, accounts); !running) return running.error();
  for (auto& [hash, account] : accounts) {
    const auto name = session.query(text::kAccountName, {hash});
    if (!name) return name.error();
    if (!name->empty()) account.account = replace_invalid_utf8(name->front().text(0));
    account.account_id = {hash.value_or("")};
    figures.accounts.push_back(std::move(account));
  }
  if (const auto beat = read_heartbeat(session, figures); !beat) return beat.error();
  return figures;
}

}  // namespace

Result<std::optional<Execution>> ViewFace::execution(ExecutionId id) {
  return readers_.read<std::optional<Execution>>([id](Session& session) {
    return first_row<Execution>(session.query(text::kExecution, {id}), read_execution);
  });
}

Result<std::optional<ExecutionText>> ViewFace::text(ExecutionId id) {
  return readers_.read<std::optional<ExecutionText>>([id](Session& session) {
    return first_row<ExecutionText>(session.query(text::kExecutionText, {id}), [](const Row& row) {
      return ExecutionText{readable(row, 0), readable(row, 1)};
    });
  });
}

Result<std::optional<DispatchTrace>> ViewFace::dispatch_trace(ExecutionId id) {
  return readers_.read<std::optional<DispatchTrace>>([id](Session& session) {
    return first_row<DispatchTrace>(session.query(text::kDispatchTrace, {id}), [](const Row& row) {
      return DispatchTrace{static_cast<int>(row.number(0)), readable(row, 1), row.maybe_time(2)};
    });
  });
}

Result<std::vector<Execution>> ViewFace::executions(const ExecutionFilter& filter) {
  Values values{filter.before.value_or(ExecutionId{std::numeric_limits<std::int64_t>::max()})};
  if (filter.account) values.emplace_back(*filter.account);
  values.emplace_back(page(filter.limit));
  return readers_.read<std::vector<Execution>>([&](Session& session) {
    return all_rows<Execution>(session.query(text::list_executions(filter), values),
                               read_execution);
  });
}

Result<std::vector<LogLine>> ViewFace::logs(ExecutionId id, LogId after, int limit) {
  return readers_.read<std::vector<LogLine>>([&](Session& session) {
    return all_rows<LogLine>(session.query(text::kLogs, {id, after, page(limit)}), read_log_line);
  });
}

Result<std::vector<Lane>> ViewFace::lanes(int rows_per_lane) {
  return readers_.read<std::vector<Lane>>(
      [&](Session& session) { return read_lanes(session, std::max(rows_per_lane, 0)); });
}

Result<std::vector<RunningRow>> ViewFace::running() {
  return readers_.read<std::vector<RunningRow>>(read_running_rows);
}

Result<std::vector<GateRecord>> ViewFace::gate_records(UtcTime now) {
  return readers_.read<std::vector<GateRecord>>(
      [now](Session& session) { return read_gate_records(session, now); });
}

Result<QueueFigures> ViewFace::figures() { return readers_.read<QueueFigures>(read_figures); }

Result<Standing> ViewFace::standing() { return readers_.read<Standing>(read_standing); }

}  // namespace coderunner::sql
