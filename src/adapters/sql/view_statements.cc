// The statements of the views.
#include <array>

#include "adapters/sql/statements.h"

namespace coderunner::sql::text {

namespace {

#define CODERUNNER_EXECUTION_COLUMNS                                                               \
  "execution_id, job_id, subdomain, subdomain_hash, apikey_hash, identifier, status, error_code, " \
  "error_message, debug, COALESCE(queued_at, started_at), started_at, finished_at, run_id, "       \
  "executor_id"

// The states of contract section 4 as conditions; the same table as domain shown_state().
std::string_view condition_of(State state) {
  switch (state) {
    case State::queued: return "status = 'queued'";
    case State::running: return "status = 'running'";
    case State::succeeded: return "status = 'success'";
    case State::failed:
      return "status = 'error' AND COALESCE(error_code, 0) <> 303 AND "
             "(started_at IS NOT NULL OR COALESCE(error_code, 0) NOT IN (201, 107, 108))";
    case State::invalid: return "status = 'error' AND error_code = 201 AND started_at IS NULL";
    case State::rejected: return "status = 'error' AND error_code = 107 AND started_at IS NULL";
    case State::cancelled: return "status = 'error' AND error_code = 108 AND started_at IS NULL";
    case State::never_dispatched:
      return "status = 'error' AND error_code = 303 AND started_at IS NULL";
    case State::killed: return "status = 'error' AND error_code = 303 AND started_at IS NOT NULL";
  }
  return "";
}

}  // namespace

constexpr std::string_view kExecution =
    "SELECT " CODERUNNER_EXECUTION_COLUMNS " FROM codeRunner_executions WHERE execution_id = :id";

std::string list_executions(const ExecutionFilter& filter) {
  std::string text = "SELECT " CODERUNNER_EXECUTION_COLUMNS
                     " FROM codeRunner_executions WHERE execution_id < :before";
  if (filter.account) text += " AND subdomain_hash = :account";
  if (filter.state) {
    // Of the few queued or running rows, or of one account's history: never of everybody's history,
    // which a `+` keeps the planner from.
    const bool few = *filter.state == State::queued || *filter.state == State::running;
    text += filter.account && !few ? " AND +" : " AND ";
    text += condition_of(*filter.state);
  }
  return text + " ORDER BY execution_id DESC LIMIT :limit";
}

#undef CODERUNNER_EXECUTION_COLUMNS

constexpr std::string_view kExecutionText =
    "SELECT e.source_code, (SELECT j.payload FROM codeRunner_jobs j WHERE j.job_id = e.job_id) "
    "FROM codeRunner_executions e WHERE e.execution_id = :id";

constexpr std::string_view kDispatchTrace =
    "SELECT j.dispatch_attempts, j.last_dispatch_error, j.not_before FROM codeRunner_executions e "
    "JOIN codeRunner_jobs j ON j.job_id = e.job_id WHERE e.execution_id = :id";

constexpr std::string_view kLogs =
    "SELECT log_id, at, level, message, api_call FROM codeRunner_logs "
    "WHERE execution_id = :execution AND log_id > :after ORDER BY log_id LIMIT :limit";

constexpr std::string_view kQueuedByLane =
    "SELECT subdomain_hash, apikey_hash, count(*), min(queued_at) FROM codeRunner_executions "
    "WHERE status = 'queued' GROUP BY subdomain_hash, apikey_hash";

constexpr std::string_view kRunningByAccount =
    "SELECT subdomain_hash, count(*) FROM codeRunner_executions "
    "WHERE status = 'running' GROUP BY subdomain_hash";

constexpr std::string_view kAccountName =
    "SELECT subdomain FROM codeRunner_executions WHERE subdomain_hash IS :account "
    "ORDER BY execution_id DESC LIMIT 1";

constexpr std::string_view kLastTick = "SELECT max(last_tick) FROM codeRunner_drainers";

constexpr std::string_view kNewestHeartbeat =
    "SELECT last_tick, executor_error, executor_down_until FROM codeRunner_drainers "
    "WHERE last_tick > '' ORDER BY last_tick DESC LIMIT 1";

// From the few nonces that are out, not from the backlog.
constexpr std::string_view kOutstanding =
    "SELECT e.execution_id, e.subdomain_hash, e.apikey_hash FROM codeRunner_jobs j "
    "CROSS JOIN codeRunner_executions e ON e.job_id = j.job_id "
    "WHERE j.nonce_hash > '' AND e.status = 'queued'";

namespace {

constexpr auto kHot = std::to_array<Named>({
    {"execution", kExecution},
    {"execution text", kExecutionText},
    {"dispatch trace", kDispatchTrace},
    {"logs", kLogs},
    {"queued by lane", kQueuedByLane},
    {"running by account", kRunningByAccount},
    {"account name", kAccountName},
    {"last tick", kLastTick},
    {"newest heartbeat", kNewestHeartbeat},
    {"outstanding", kOutstanding},
});

}  // namespace

std::span<const Named> hot_view_statements() { return kHot; }

}  // namespace coderunner::sql::text
