// The statements of the reaper.
#include <array>

#include "adapters/sql/gate_condition.h"
#include "adapters/sql/statements.h"

namespace coderunner::sql::text {

#define CODERUNNER_NOT_PARKED                                                             \
  "AND NOT EXISTS (SELECT 1 FROM codeRunner_gates g WHERE g.apikey_hash = e.apikey_hash " \
  "AND " CODERUNNER_GATE_CLOSED                                                           \
  ") "                                                                                    \
  "AND NOT EXISTS (SELECT 1 FROM codeRunner_pauses p "                                    \
  "WHERE p.subdomain_hash IN ('', e.subdomain_hash)) "

constexpr std::string_view kOldQueued =
    "SELECT e.execution_id, e.queued_at FROM codeRunner_executions e "
    "WHERE e.status = 'queued' AND e.queued_at < :cutoff " CODERUNNER_NOT_PARKED
    "ORDER BY e.queued_at, e.execution_id LIMIT :most";

constexpr std::string_view kEndNeverDispatched =
    "UPDATE codeRunner_executions AS e SET status = 'error', error_code = :code, "
    "error_message = :message, finished_at = :at "
    "WHERE execution_id = :execution AND status = 'queued' "
    "AND queued_at < :cutoff " CODERUNNER_NOT_PARKED
    "AND NOT EXISTS (SELECT 1 FROM codeRunner_drainers d WHERE d.last_tick >= :no_tick_since)";

#undef CODERUNNER_NOT_PARKED

#define CODERUNNER_KEYS_TO_SCRUB                                                        \
  "SELECT j.job_id FROM codeRunner_jobs j WHERE j.apikey IS NOT NULL AND j.job_id > 0 " \
  "AND EXISTS (SELECT 1 FROM codeRunner_executions e WHERE e.job_id = j.job_id "        \
  "AND COALESCE(e.started_at, e.finished_at) < :before) "                               \
  "AND NOT EXISTS (SELECT 1 FROM codeRunner_executions e WHERE e.job_id = j.job_id "    \
  "AND e.status = 'queued') LIMIT :most"

// Of the jobs that still hold a key, by the index that holds no others.
constexpr std::string_view kKeysToScrub = CODERUNNER_KEYS_TO_SCRUB;

constexpr std::string_view kScrubKeys =
    "UPDATE codeRunner_jobs SET apikey = NULL WHERE job_id IN (" CODERUNNER_KEYS_TO_SCRUB ")";

#undef CODERUNNER_KEYS_TO_SCRUB

#define CODERUNNER_KEYS_TO_FORGET                                                               \
  "SELECT j.job_id FROM codeRunner_jobs j JOIN codeRunner_executions e ON e.job_id = j.job_id " \
  "WHERE j.idempotency_key IS NOT NULL AND e.queued_at < :before ORDER BY j.job_id LIMIT :most"

constexpr std::string_view kIdempotencyKeysToForget = CODERUNNER_KEYS_TO_FORGET;

constexpr std::string_view kForgetIdempotencyKeys =
    "UPDATE codeRunner_jobs SET idempotency_key = NULL, request_hash = NULL WHERE job_id IN "
    "(" CODERUNNER_KEYS_TO_FORGET ")";

#undef CODERUNNER_KEYS_TO_FORGET

#define CODERUNNER_OLD_AUDIT                                  \
  "SELECT audit_id FROM codeRunner_audit WHERE at < :before " \
  "ORDER BY at, audit_id LIMIT :most"

constexpr std::string_view kOldAudit = CODERUNNER_OLD_AUDIT;

constexpr std::string_view kPurgeAudit =
    "DELETE FROM codeRunner_audit WHERE audit_id IN (" CODERUNNER_OLD_AUDIT ")";

#undef CODERUNNER_OLD_AUDIT

#define CODERUNNER_OLD_GATES                                           \
  "SELECT apikey_hash FROM codeRunner_gates WHERE until_at < :before " \
  "ORDER BY until_at, apikey_hash LIMIT :most"

constexpr std::string_view kOldGates = CODERUNNER_OLD_GATES;

constexpr std::string_view kForgetGates =
    "DELETE FROM codeRunner_gates WHERE apikey_hash IN (" CODERUNNER_OLD_GATES ")";

#undef CODERUNNER_OLD_GATES

constexpr std::string_view kNewestQueued =
    "SELECT max(newest) FROM ("
    "SELECT max(queued_at) AS newest FROM codeRunner_executions WHERE status = 'queued' UNION ALL "
    "SELECT max(queued_at) FROM codeRunner_executions WHERE status = 'running' UNION ALL "
    "SELECT max(queued_at) FROM codeRunner_executions WHERE status = 'success' UNION ALL "
    "SELECT max(queued_at) FROM codeRunner_executions WHERE status = 'error')";

constexpr std::string_view kFinishedBefore =
    "SELECT execution_id, job_id, queued_at FROM codeRunner_executions "
    "WHERE status = :status AND queued_at < :cutoff ORDER BY queued_at, execution_id LIMIT :most";

constexpr std::string_view kFinishedBeforeOfOldWriters =
    "SELECT execution_id, job_id, started_at FROM codeRunner_executions "
    "WHERE status = :status AND started_at < :cutoff AND +queued_at IS NULL "
    "ORDER BY started_at, execution_id LIMIT :most";

constexpr std::string_view kDeleteLines =
    "DELETE FROM codeRunner_logs WHERE log_id IN (SELECT log_id FROM codeRunner_logs "
    "WHERE execution_id = :execution ORDER BY log_id LIMIT :most)";

constexpr std::string_view kAnyLine =
    "SELECT 1 FROM codeRunner_logs WHERE execution_id = :execution LIMIT 1";

constexpr std::string_view kDeleteFinished =
    "DELETE FROM codeRunner_executions "
    "WHERE execution_id = :execution AND status IN ('success', 'error')";

constexpr std::string_view kDeleteJob =
    "DELETE FROM codeRunner_jobs WHERE job_id = :job AND NOT EXISTS "
    "(SELECT 1 FROM codeRunner_executions e WHERE e.job_id = codeRunner_jobs.job_id)";

constexpr std::string_view kSweep =
    "UPDATE codeRunner_sweeps SET last_sweep = :now WHERE sweep_id = 1";

constexpr std::string_view kFirstSweep =
    "INSERT INTO codeRunner_sweeps (sweep_id, last_sweep) VALUES (1, :now)";

namespace {

constexpr auto kHot = std::to_array<Named>({
    {"old queued", kOldQueued},
    {"end never dispatched", kEndNeverDispatched},
    {"keys to scrub", kKeysToScrub},
    {"scrub keys", kScrubKeys},
    {"idempotency keys to forget", kIdempotencyKeysToForget},
    {"forget idempotency keys", kForgetIdempotencyKeys},
    {"old audit", kOldAudit},
    {"purge audit", kPurgeAudit},
    {"old gates", kOldGates},
    {"forget gates", kForgetGates},
    {"newest queued", kNewestQueued},
    {"finished before", kFinishedBefore},
    {"finished before, of old writers", kFinishedBeforeOfOldWriters},
    {"delete lines", kDeleteLines},
    {"any line", kAnyLine},
    {"delete finished", kDeleteFinished},
    {"delete job", kDeleteJob},
    {"sweep", kSweep},
});

}  // namespace

std::span<const Named> hot_reaper_statements() { return kHot; }

}  // namespace coderunner::sql::text
