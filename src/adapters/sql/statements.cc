#include "adapters/sql/statements.h"

#include <array>

#include "adapters/sql/gate_condition.h"

namespace coderunner::sql::text {

// ---- Admission

constexpr std::string_view kInsertJob =
    "INSERT INTO codeRunner_jobs "
    "(apikey, payload, admission_ref, subdomain_hash, idempotency_key, request_hash) "
    "VALUES (:apikey, :payload, :ref, :account, :key, :request)";

constexpr std::string_view kInsertExecution =
    "INSERT INTO codeRunner_executions (job_id, subdomain, subdomain_hash, identifier, status, "
    "source_code, debug, queued_at, apikey_hash) "
    "VALUES (:job, :name, :account, :identifier, 'queued', :source, :debug, :queued_at, :key)";

constexpr std::string_view kInsertRefusal =
    "INSERT INTO codeRunner_executions (subdomain, subdomain_hash, identifier, status, error_code, "
    "error_message, source_code, queued_at, finished_at) "
    "VALUES (:name, :account, :identifier, 'error', :code, :message, :source, :queued_at, :at)";

constexpr std::string_view kFindAdmission =
    "SELECT e.execution_id, e.job_id FROM codeRunner_jobs j "
    "JOIN codeRunner_executions e ON e.job_id = j.job_id WHERE j.admission_ref = :ref";

constexpr std::string_view kFindRefusal =
    "SELECT 1 FROM codeRunner_executions WHERE execution_id = :id AND status = 'error' "
    "AND subdomain_hash = :account AND finished_at = :at";

// Counted no further than a cap needs.
constexpr std::string_view kDepthInAll =
    "SELECT count(*) FROM "
    "(SELECT 1 FROM codeRunner_executions WHERE status = 'queued' LIMIT :most) AS counted";

constexpr std::string_view kDepthOfAccount =
    "SELECT count(*) FROM (SELECT 1 FROM codeRunner_executions "
    "WHERE status = 'queued' AND subdomain_hash = :account LIMIT :most) AS counted";

constexpr std::string_view kFindByIdempotencyKey =
    "SELECT j.job_id, j.request_hash, e.execution_id, e.status, COALESCE(e.queued_at, "
    "e.started_at) "
    "FROM codeRunner_jobs j LEFT JOIN codeRunner_executions e ON e.job_id = j.job_id "
    "WHERE j.subdomain_hash = :account AND j.idempotency_key = :key LIMIT 1";

constexpr std::string_view kForgetIdempotencyKey =
    "UPDATE codeRunner_jobs SET idempotency_key = NULL, request_hash = NULL WHERE job_id = :job";

constexpr std::string_view kRefusalTally =
    "SELECT kept, rejected, does_not_parse, execution_id FROM codeRunner_refusals "
    "WHERE hour = :hour AND subdomain_hash = :account";

constexpr std::string_view kUpdateTally =
    "UPDATE codeRunner_refusals SET kept = :kept, rejected = :rejected, "
    "does_not_parse = :does_not_parse, execution_id = :execution "
    "WHERE hour = :hour AND subdomain_hash = :account";

constexpr std::string_view kFirstTally =
    "INSERT INTO codeRunner_refusals "
    "(kept, rejected, does_not_parse, execution_id, hour, subdomain_hash) "
    "VALUES (:kept, :rejected, :does_not_parse, :execution, :hour, :account)";

constexpr std::string_view kForgetTallies = "DELETE FROM codeRunner_refusals WHERE hour < :oldest";

constexpr std::string_view kFoldRefusal =
    "UPDATE codeRunner_executions SET error_code = :code, error_message = :message "
    "WHERE execution_id = :execution AND status = 'error' AND error_code IN (107, 201)";

// ---- Dispatch

constexpr std::string_view kFirstLane =
    "SELECT subdomain_hash, apikey_hash FROM codeRunner_executions "
    "WHERE status = 'queued' AND subdomain_hash >= '' ORDER BY subdomain_hash, apikey_hash LIMIT 1";

// From the least key that is larger: a strict ">" over a row value would walk every row of the lane
// it leaves.
constexpr std::string_view kNextLane =
    "SELECT subdomain_hash, apikey_hash FROM codeRunner_executions "
    "WHERE status = 'queued' AND (subdomain_hash, apikey_hash) >= (:account, :key || char(0)) "
    "ORDER BY subdomain_hash, apikey_hash LIMIT 1";

constexpr std::string_view kLaneAfterKeyless =
    "SELECT subdomain_hash, apikey_hash FROM codeRunner_executions "
    "WHERE status = 'queued' AND (subdomain_hash, apikey_hash) >= (:account, '') "
    "ORDER BY subdomain_hash, apikey_hash LIMIT 1";

constexpr std::string_view kFirstLaneOfNextAccount =
    "SELECT subdomain_hash, apikey_hash FROM codeRunner_executions "
    "WHERE status = 'queued' AND subdomain_hash > :account "
    "ORDER BY subdomain_hash, apikey_hash LIMIT 1";

constexpr std::string_view kFirstKeyOfNobody =
    "SELECT subdomain_hash, apikey_hash FROM codeRunner_executions "
    "WHERE status = 'queued' AND subdomain_hash IS NULL AND apikey_hash >= '' "
    "ORDER BY apikey_hash LIMIT 1";

constexpr std::string_view kNextKeyOfNobody =
    "SELECT subdomain_hash, apikey_hash FROM codeRunner_executions "
    "WHERE status = 'queued' AND subdomain_hash IS NULL AND apikey_hash > :key "
    "ORDER BY apikey_hash LIMIT 1";

constexpr std::string_view kLaneHeads =
    "SELECT e.execution_id, e.job_id, e.queued_at, "
    "(SELECT j.not_before FROM codeRunner_jobs j WHERE j.job_id = e.job_id) "
    "FROM codeRunner_executions e "
    "WHERE e.status = 'queued' AND e.subdomain_hash IS :account AND e.apikey_hash IS :key "
    "ORDER BY e.queued_at, e.execution_id LIMIT :rows";

constexpr std::string_view kRunning =
    "SELECT execution_id, subdomain_hash, run_id, executor_id, started_at, apikey_hash "
    "FROM codeRunner_executions WHERE status = 'running' ORDER BY started_at, execution_id";

constexpr std::string_view kEndedSince =
    "SELECT subdomain_hash, started_at, finished_at FROM codeRunner_executions "
    "WHERE started_at >= :earliest AND finished_at > :since";

constexpr std::string_view kMintable =
    "SELECT e.status, "
    "EXISTS (SELECT 1 FROM codeRunner_gates g WHERE g.apikey_hash = e.apikey_hash "
    "AND " CODERUNNER_GATE_CLOSED
    "), "
    "EXISTS (SELECT 1 FROM codeRunner_pauses p WHERE p.subdomain_hash IN ('', e.subdomain_hash)), "
    "EXISTS (SELECT 1 FROM codeRunner_jobs j WHERE j.job_id = e.job_id "
    "AND (e.apikey_hash IS NULL OR j.apikey IS NOT NULL)) "
    "FROM codeRunner_executions e "
    "WHERE e.execution_id = :execution AND COALESCE(e.job_id, 0) = :job";

constexpr std::string_view kMint =
    "UPDATE codeRunner_jobs SET nonce_hash = :nonce, started_at = :now, drainer_id = :drainer, "
    "dispatch_attempts = COALESCE(dispatch_attempts, 0) + 1 WHERE job_id = :job";

constexpr std::string_view kMinted =
    "SELECT 1 FROM codeRunner_jobs WHERE job_id = :job AND nonce_hash = :nonce";

constexpr std::string_view kStatusAndJob =
    "SELECT status, job_id FROM codeRunner_executions WHERE execution_id = :execution";

constexpr std::string_view kRevoke =
    "UPDATE codeRunner_jobs SET nonce_hash = NULL, not_before = :not_before, "
    "last_dispatch_error = COALESCE(:error, last_dispatch_error) WHERE job_id = :job";

constexpr std::string_view kRevokeAll =
    "UPDATE codeRunner_jobs SET nonce_hash = NULL WHERE nonce_hash > '' AND EXISTS "
    "(SELECT 1 FROM codeRunner_executions e "
    "WHERE e.job_id = codeRunner_jobs.job_id AND e.status = 'queued')";

constexpr std::string_view kOutstandingNonce =
    "SELECT 1 FROM codeRunner_jobs WHERE nonce_hash > '' AND EXISTS "
    "(SELECT 1 FROM codeRunner_executions e "
    "WHERE e.job_id = codeRunner_jobs.job_id AND e.status = 'queued') LIMIT 1";

constexpr std::string_view kEndRun =
    "UPDATE codeRunner_executions SET status = :status, error_code = :code, "
    "error_message = :message, finished_at = :now "
    "WHERE execution_id = :execution AND status = 'running' AND run_id IS :run";

constexpr std::string_view kEndQueued =
    "UPDATE codeRunner_executions SET status = 'error', error_code = :code, "
    "error_message = :message, finished_at = :now "
    "WHERE execution_id = :execution AND status = 'queued'";

constexpr std::string_view kRunEnded =
    "SELECT 1 FROM codeRunner_executions WHERE execution_id = :execution AND status = :status "
    "AND run_id IS :run AND finished_at = :now";

constexpr std::string_view kScrubJob =
    "UPDATE codeRunner_jobs SET apikey = NULL, nonce_hash = NULL WHERE job_id = "
    "(SELECT job_id FROM codeRunner_executions WHERE execution_id = :execution)";

constexpr std::string_view kTick =
    "UPDATE codeRunner_drainers SET last_tick = :now, executor_error = :error, "
    "executor_down_until = :until WHERE drainer_id = :drainer";

constexpr std::string_view kFirstTick =
    "INSERT INTO codeRunner_drainers (last_tick, executor_error, executor_down_until, drainer_id) "
    "VALUES (:now, :error, :until, :drainer)";

constexpr std::string_view kForgetDrainers =
    "DELETE FROM codeRunner_drainers WHERE last_tick < :oldest";

// ---- Ledger

constexpr std::string_view kQueuedByJob =
    "SELECT execution_id FROM codeRunner_executions WHERE job_id = :job AND status = 'queued' "
    "LIMIT 1";

constexpr std::string_view kBeginExecution =
    "UPDATE codeRunner_executions SET status = 'running', started_at = :now, run_id = :run, "
    "executor_id = :executor WHERE execution_id = :execution AND status = 'queued'";

constexpr std::string_view kSpendNonce =
    "UPDATE codeRunner_jobs SET nonce_hash = NULL "
    "WHERE job_id = :job AND nonce_hash = :nonce AND started_at >= :oldest";

constexpr std::string_view kBegun =
    "SELECT e.execution_id, e.subdomain, e.apikey_hash, j.apikey, e.source_code, j.payload, "
    "e.identifier, e.debug FROM codeRunner_executions e "
    "JOIN codeRunner_jobs j ON j.job_id = e.job_id WHERE e.execution_id = :execution";

constexpr std::string_view kBegunByRun =
    "SELECT e.execution_id, e.subdomain, e.apikey_hash, j.apikey, e.source_code, j.payload, "
    "e.identifier, e.debug FROM codeRunner_executions e "
    "JOIN codeRunner_jobs j ON j.job_id = e.job_id "
    "WHERE e.job_id = :job AND e.run_id = :run AND e.status = 'running'";

constexpr std::string_view kIsThisRun =
    "SELECT 1 FROM codeRunner_executions WHERE execution_id = :execution AND status = 'running' "
    "AND run_id = :run";

constexpr std::string_view kInsertLog =
    "INSERT INTO codeRunner_logs (execution_id, at, level, message, api_call) "
    "VALUES (:execution, :at, :level, :message, :call)";

constexpr std::string_view kFindLog =
    "SELECT 1 FROM codeRunner_logs "
    "WHERE log_id = :id AND execution_id = :execution AND at = :at AND message = :message";

constexpr std::string_view kCalls =
    "SELECT log_id, at, level, message, api_call FROM codeRunner_logs "
    "WHERE execution_id = :execution AND api_call IS NOT NULL ORDER BY log_id LIMIT :most";

// ---- Gates

#define CODERUNNER_GATE_COLUMNS                                                               \
  "g.apikey_hash, g.until_at, g.first_seen, g.last_seen, g.hint_ms, g.status, g.limited_at, " \
  "g.longest_ms"
#define CODERUNNER_GATE_PROVED                                                         \
  "EXISTS (SELECT 1 FROM codeRunner_executions e WHERE e.apikey_hash = g.apikey_hash " \
  "AND e.started_at >= g.until_at AND e.finished_at IS NOT NULL)"

constexpr std::string_view kGate = "SELECT " CODERUNNER_GATE_COLUMNS ", " CODERUNNER_GATE_PROVED
                                   " FROM codeRunner_gates g WHERE g.apikey_hash = :key";

constexpr std::string_view kClosedGate =
    "SELECT " CODERUNNER_GATE_COLUMNS
    " FROM codeRunner_gates g WHERE g.apikey_hash = :key AND " CODERUNNER_GATE_CLOSED;

constexpr std::string_view kClosedGates =
    "SELECT " CODERUNNER_GATE_COLUMNS " FROM codeRunner_gates g WHERE " CODERUNNER_GATE_CLOSED
    " ORDER BY g.until_at, g.apikey_hash";

constexpr std::string_view kGateRecords =
    "SELECT " CODERUNNER_GATE_COLUMNS ", " CODERUNNER_GATE_PROVED
    " FROM codeRunner_gates g WHERE g.until_at > :since ORDER BY g.until_at, g.apikey_hash";

#undef CODERUNNER_GATE_PROVED
#undef CODERUNNER_GATE_COLUMNS

constexpr std::string_view kExtendGate =
    "UPDATE codeRunner_gates SET until_at = :until, first_seen = :first, last_seen = :last, "
    "hint_ms = :hint, status = :status, limited_at = :limited, longest_ms = :longest "
    "WHERE apikey_hash = :key";

constexpr std::string_view kInsertGate =
    "INSERT INTO codeRunner_gates (until_at, first_seen, last_seen, hint_ms, status, limited_at, "
    "longest_ms, apikey_hash) "
    "VALUES (:until, :first, :last, :hint, :status, :limited, :longest, :key)";

constexpr std::string_view kClearGate = "DELETE FROM codeRunner_gates WHERE apikey_hash = :key";

// ---- Operators

constexpr std::string_view kPaused =
    "SELECT subdomain_hash FROM codeRunner_pauses WHERE subdomain_hash >= ''";

constexpr std::string_view kOverrides =
    "SELECT subdomain_hash, per_account FROM codeRunner_accounts WHERE subdomain_hash >= ''";

constexpr std::string_view kPause =
    "INSERT INTO codeRunner_pauses (subdomain_hash, paused_at) VALUES (:account, :at)";

constexpr std::string_view kResume =
    "DELETE FROM codeRunner_pauses WHERE subdomain_hash = :account";

constexpr std::string_view kCancel =
    "UPDATE codeRunner_executions SET status = 'error', error_code = :code, finished_at = :now "
    "WHERE execution_id = :execution AND status = 'queued'";

constexpr std::string_view kQueuedOfAccount =
    "SELECT execution_id FROM codeRunner_executions "
    "WHERE status = 'queued' AND subdomain_hash = :account";

constexpr std::string_view kSetOverride =
    "INSERT INTO codeRunner_accounts (subdomain_hash, per_account) VALUES (:account, :cap)";

constexpr std::string_view kClearOverride =
    "DELETE FROM codeRunner_accounts WHERE subdomain_hash = :account";

constexpr std::string_view kAccountState =
    "SELECT (SELECT count(*) FROM codeRunner_executions "
    "WHERE status = 'queued' AND subdomain_hash = :queued), "
    "(SELECT count(*) FROM codeRunner_executions "
    "WHERE status = 'running' AND subdomain_hash = :running), "
    "EXISTS (SELECT 1 FROM codeRunner_pauses WHERE subdomain_hash IN ('', :paused)), "
    "(SELECT per_account FROM codeRunner_accounts WHERE subdomain_hash = :capped)";

constexpr std::string_view kInsertAudit =
    "INSERT INTO codeRunner_audit (at, actor, action, subject, details) "
    "VALUES (:at, :actor, :action, :subject, :details)";

constexpr std::string_view kFindAudit =
    "SELECT 1 FROM codeRunner_audit WHERE audit_id = :id AND at = :at AND actor = :actor "
    "AND action = :action AND subject = :subject AND details = :details";

namespace {

constexpr auto kHot = std::to_array<Named>({
    {"insert job", kInsertJob},
    {"insert execution", kInsertExecution},
    {"find admission", kFindAdmission},
    {"find refusal", kFindRefusal},
    {"depth in all", kDepthInAll},
    {"depth of account", kDepthOfAccount},
    {"find by idempotency key", kFindByIdempotencyKey},
    {"forget idempotency key", kForgetIdempotencyKey},
    {"refusal tally", kRefusalTally},
    {"update tally", kUpdateTally},
    {"forget tallies", kForgetTallies},
    {"fold refusal", kFoldRefusal},
    {"first lane", kFirstLane},
    {"next lane", kNextLane},
    {"lane after keyless", kLaneAfterKeyless},
    {"first lane of next account", kFirstLaneOfNextAccount},
    {"first key of nobody", kFirstKeyOfNobody},
    {"next key of nobody", kNextKeyOfNobody},
    {"lane heads", kLaneHeads},
    {"running", kRunning},
    {"ended since", kEndedSince},
    {"mintable", kMintable},
    {"mint", kMint},
    {"minted", kMinted},
    {"status and job", kStatusAndJob},
    {"revoke", kRevoke},
    {"revoke all", kRevokeAll},
    {"outstanding nonce", kOutstandingNonce},
    {"end run", kEndRun},
    {"run ended", kRunEnded},
    {"scrub job", kScrubJob},
    {"tick", kTick},
    {"forget drainers", kForgetDrainers},
    {"queued by job", kQueuedByJob},
    {"begin execution", kBeginExecution},
    {"spend nonce", kSpendNonce},
    {"begun", kBegun},
    {"begun by run", kBegunByRun},
    {"is this run", kIsThisRun},
    {"find log", kFindLog},
    {"calls", kCalls},
    {"gate", kGate},
    {"closed gate", kClosedGate},
    {"closed gates", kClosedGates},
    {"gate records", kGateRecords},
    {"extend gate", kExtendGate},
    {"paused", kPaused},
    {"overrides", kOverrides},
    {"resume", kResume},
    {"cancel", kCancel},
    {"queued of account", kQueuedOfAccount},
    {"clear override", kClearOverride},
    {"account state", kAccountState},
    {"find audit", kFindAudit},
});

}  // namespace

std::vector<Named> hot_statements() {
  std::vector<Named> all{kHot.begin(), kHot.end()};
  for (const auto more : {hot_reaper_statements(), hot_view_statements()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace coderunner::sql::text
