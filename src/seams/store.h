// The store's narrow faces: each stage sees only its own verbs. All writes are conditional on the
// state they were based on; times and ids are bound by the caller (no SQL clock). Every call may
// fail with `unavailable`; nothing has happened then. Faces are thread-safe unless said. SQL texts:
// contract section 3.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "domain/execution.h"
#include "domain/lane_plan.h"
#include "domain/rate_gate.h"

namespace coderunner {

// ---- Admission
//

struct DepthCaps {  // queued executions, of one account and in all (rulings 19)
  int per_account = limits::kMaxQueuedPerAccount;
  int all = limits::kMaxQueued;
};

struct Idempotency {  // contract section 2: scoped per account
  std::string key;
  RequestHash request;
  UtcTime kept_since;  // a key admitted before it is free again
};

struct NewExecution {
  AdmissionRef ref;
  std::string account;
  AccountId account_id;
  ApiKeyHash key;
  std::string sealed_key;
  std::string source;
  std::optional<std::string> identifier;
  std::optional<std::string> payload;
  bool debug = false;
  UtcTime queued_at;
  std::optional<Idempotency> idempotency = {};
  DepthCaps caps = {};
};

struct Admitted {
  ExecutionId execution;
  JobId job;
  friend bool operator==(const Admitted&, const Admitted&) = default;
};

struct Repeated {  // its Idempotency-Key has admitted the same request before: nothing was added
  Admitted first;
  Status status = Status::queued;  // of the first, now
  friend bool operator==(const Repeated&, const Repeated&) = default;
};
struct KeyReused {  // its Idempotency-Key has admitted another request: nothing was added
  ExecutionId first;
  friend bool operator==(const KeyReused&, const KeyReused&) = default;
};
struct TooDeep {  // a cap is reached: nothing was added
  enum class Of { account, all };
  Of of = Of::account;
  int queued = 0;  // counted up to one above the cap
  int cap = 0;
  friend bool operator==(const TooDeep&, const TooDeep&) = default;
};
using AdmitAnswer = std::variant<Admitted, Repeated, KeyReused, TooDeep>;

struct RefusalBounds {  // refused submissions kept as rows of their own, an hour (rulings 20)
  int per_account = limits::kMaxRefusalsKeptPerAccount;
  int all = limits::kMaxRefusalsKept;
};

struct NewRefusal {  // a visible row of a submission that was not admitted
  std::string account;
  AccountId account_id;
  std::optional<std::string> identifier;
  std::optional<std::string> source;  // unparsable ones keep at most 16 KiB of it (rulings 20)
  ErrorCode code = ErrorCode::does_not_parse;
  std::string message;
  UtcTime at;
  RefusalBounds bounds = {};
};

class AdmissionStore {
 public:
  using AdmitDone = std::function<void(Result<AdmitAnswer>)>;
  using RefuseDone = std::function<void(Result<ExecutionId>)>;
  virtual ~AdmissionStore() = default;
  // `done` is called once, from any thread, and with a value only after the rows are durable.
  // unknown_outcome: the commit may have happened and re-reading the admission's own mark (ref)
  // failed too. `done` may call these again, and must not wait for them.
  //
  // The Idempotency-Key is looked up, both depths are counted and the rows are written in one
  // transaction that nobody else writes beside: of any number at once the caps let through exactly
  // what there is room for, and one key admits once. A repeated request is answered at any depth.
  virtual void admit(NewExecution execution, AdmitDone done) = 0;
  // Answers the row that shows it: its own, or beyond the bounds the one that counts the rest of
  // this hour (domain refusal_tally.h).
  virtual void refuse(NewRefusal refusal, RefuseDone done) = 0;
};

// What operators' acts say of who may start now. Read at every tick and page: a pause that was
// answered is in every later one.
struct Standing {
  bool everybody_paused = false;
  std::set<AccountId> paused;            // one by one, whether or not everybody is
  std::map<AccountId, int> per_account;  // in flight, instead of queue.per_account
  friend bool operator==(const Standing&, const Standing&) = default;
};

// ---- Dispatch
//

struct RunningRow {
  ExecutionId execution;
  AccountId account;
  std::optional<RunId> run;            // NULL in rows of old writers
  std::optional<ExecutorId> executor;  // NULL in rows of old writers
  UtcTime started_at;
  std::optional<ApiKeyHash> key;
  friend bool operator==(const RunningRow&, const RunningRow&) = default;
};

struct Mint {
  ExecutionId execution;
  JobId job;
  NonceHash nonce;
  DrainerId drainer;
  UtcTime now;
};
enum class MintAnswer {
  minted,
  not_queued,
  key_gated,
  account_paused,
  key_gone,  // its jobs row, or the API key its hash stands for, is not there any more
};

struct BackOff {  // why a dispatch came to nothing, and when to try again
  std::optional<UtcTime> not_before;
  std::string error;
};
enum class RevokeAnswer { free, running, ended };

struct ExecutorTrouble {  // nothing can be handed over: what the last attempt met
  std::string error;
  UtcTime until;  // when it is tried again
  friend bool operator==(const ExecutorTrouble&, const ExecutorTrouble&) = default;
};
struct Heartbeat {
  DrainerId drainer;
  UtcTime now;
  std::optional<ExecutorTrouble> trouble = {};  // what a process without a drainer can not know
};

class DispatchStore {
 public:
  virtual ~DispatchStore() = default;
  // Every lane that has a queued row, with its oldest `rows_per_lane` rows by (queued_at,
  // execution_id). Reads lane heads, never the backlog.
  virtual Result<std::vector<Lane>> lanes(int rows_per_lane) = 0;
  virtual Result<std::vector<RunningRow>> running() = 0;
  // Slot time per account of runs that ended after `since` or still run (counted to `now`).
  virtual Result<std::vector<SlotUse>> slot_use(UtcTime since, UtcTime now) = 0;
  // The gates that are closed at `now` or opened within limits::kGateRemembered before it.
  virtual Result<std::vector<GateRecord>> gate_records(UtcTime now) = 0;
  virtual Result<Standing> standing() = 0;
  virtual Result<MintAnswer> mint(const Mint& mint) = 0;
  // Locks the row and reads it: still queued -> the nonce is gone and the row is free again (with
  // `back_off` kept).
  virtual Result<RevokeAnswer> revoke(ExecutionId execution, const BackOff& back_off) = 0;
  // Every outstanding nonce of queued rows; answers how many.
  virtual Result<int> revoke_all() = 0;
  // Ends a run 303 by its run id (NULL run: by execution). Its message is `reason` and, read in the
  // same transaction, what the run had sent (domain reaped()). False where it is no longer that
  // running row.
  virtual Result<bool> abandon(ExecutionId execution, const std::optional<RunId>& run,
                               const std::string& reason, UtcTime now) = 0;
  // Ends a queued row 303 that can never be dispatched. False where it is not queued any more.
  virtual Result<bool> end_undispatched(ExecutionId execution, const std::string& message,
                                        UtcTime now) = 0;
  virtual Result<Done> heartbeat(const Heartbeat& beat) = 0;
};

// ---- Reaper
//

struct OldQueuedRow {
  ExecutionId execution;
  UtcTime queued_at;
  friend bool operator==(const OldQueuedRow&, const OldQueuedRow&) = default;
};

struct NeverDispatched {  // what the verdict is based on, and the write with it (rulings 5)
  ExecutionId execution;
  UtcTime queued_before;
  UtcTime no_tick_since;  // no drainer's stored tick is at or after it
  std::string message;
  UtcTime now;
};

struct PurgeBatch {
  UtcTime queued_before;
  int rows = limits::kPurgedAtOnce;
  int log_lines = limits::kPurgedLinesAtOnce;
};
struct Purged {
  int rows = 0;
  int log_lines = 0;
  bool more = false;  // the batch was full
  friend bool operator==(const Purged&, const Purged&) = default;
};

class ReaperStore {
 public:
  virtual ~ReaperStore() = default;
  virtual Result<std::vector<RunningRow>> running() = 0;
  virtual Result<bool> abandon(ExecutionId execution, const std::optional<RunId>& run,
                               const std::string& reason, UtcTime now) = 0;
  // Oldest first; none whose key is gated at `now` or whose account is paused.
  virtual Result<std::vector<OldQueuedRow>> queued_before(UtcTime cutoff, UtcTime now,
                                                          int limit) = 0;
  // Ends it 303 and scrubs its job, on all of: still queued since before the cutoff, key not gated,
  // account not paused, no drainer ticking. False where one of them does not hold any more.
  virtual Result<bool> end_never_dispatched(const NeverDispatched& verdict) = 0;
  virtual Result<std::optional<UtcTime>> last_tick() = 0;  // of any drainer
  // API keys still held for executions that started (or ended without a start) before the cutoff;
  // never one whose execution is queued. Answers how many went, at most `most`.
  virtual Result<int> scrub_keys(UtcTime started_before, int most) = 0;
  // Idempotency keys of executions queued before the cutoff: free again. Answers how many went.
  virtual Result<int> forget_idempotency_keys(UtcTime queued_before, int most) = 0;
  // Entries of operators' acts before the cutoff, oldest first. Answers how many went.
  virtual Result<int> purge_audit(UtcTime before, int most) = 0;
  // Gates that opened before the cutoff. Answers how many went.
  virtual Result<int> forget_gates(UtcTime opened_before, int most) = 0;
  // The newest stored one; rows of old writers have none.
  virtual Result<std::optional<UtcTime>> newest_queued_at() = 0;
  // Finished rows queued before the cutoff (started, where they have no queued_at), oldest first,
  // with their jobs and log lines, in one transaction. A row with more log lines than a batch takes
  // loses those first and goes with its last ones.
  virtual Result<Purged> purge(const PurgeBatch& batch) = 0;
  // That the store could be written at `now`.
  virtual Result<Done> record_sweep(UtcTime now) = 0;
};

// ---- Ledger: the executor's face
//

struct Begin {
  JobId job;
  NonceHash nonce;
  RunId run;
  ExecutorId executor;
  UtcTime now;
  // Called inside the transaction, before it commits: if we die after the commit, whoever buries
  // this process knows which row to finish. May be called again when the transaction is re-run.
  std::function<void(ExecutionId)> before_commit = {};
};

struct Begun {
  ExecutionId execution;
  std::string account;
  std::optional<ApiKeyHash> key;
  std::optional<std::string> sealed_key;
  std::string source;
  std::optional<std::string> payload;
  std::optional<std::string> identifier;
  bool debug = false;
};
struct BeginRefused {};  // wrong, spent, revoked or old nonce, unknown job: 113

enum class FinishAnswer { finished, not_this_run };
enum class AnnounceAnswer { announced, not_this_run };

class Ledger {
 public:
  virtual ~Ledger() = default;
  // One transaction that spends the nonce. After a commit of unknown outcome it re-reads the row:
  // Begun only where the row carries this very run id.
  virtual Result<std::variant<Begun, BeginRefused>> begin(const Begin& begin) = 0;
  // Conditional on (execution, run, running); scrubs the job's API key in the same transaction.
  virtual Result<FinishAnswer> finish(ExecutionId execution, const RunId& run,
                                      const Outcome& outcome, UtcTime now) = 0;
  // Durable when it answers. LogLine::id is ignored.
  virtual Result<Done> append_log(ExecutionId execution, const std::vector<LogLine>& lines) = 0;
  // What must stand in the log before a run changes anything outside. Conditional on (execution,
  // run, running) in the same transaction: a run whose row somebody else has ended writes no line,
  // and may send nothing any more.
  virtual Result<AnnounceAnswer> announce(ExecutionId execution, const RunId& run,
                                          const std::vector<LogLine>& lines) = 0;
  // Of a run whose own worker can not say any more: what it had sent that may have changed
  // something, from its log lines (domain sent_changes.h).
  virtual Result<std::vector<std::string>> sent_changes(ExecutionId execution) = 0;
};

// ---- Views
//

struct ExecutionFilter {
  std::optional<AccountId> account;
  std::optional<State> state;
  std::optional<ExecutionId> before;  // keyset: strictly older ids
  int limit = limits::kDefaultListed;
};

struct ExecutionText {  // what a list never reads
  std::optional<std::string> source;
  std::optional<std::string> payload;
};

struct DispatchTrace {  // of the job, for `queued_reason` and the timeline
  int attempts = 0;
  std::optional<std::string> last_error;
  std::optional<UtcTime> not_before;
};

struct AccountFigures {
  std::string account;
  AccountId account_id;
  int queued = 0;
  int in_flight = 0;
  std::optional<UtcTime> oldest_queued_at;
};

struct KeyFigures {
  AccountId account_id;
  std::optional<ApiKeyHash> key;
  int queued = 0;
  UtcTime oldest_queued_at;
};

struct QueueFigures {
  std::vector<AccountFigures> accounts;         // with a queued or running row
  std::vector<KeyFigures> lanes;                // with a queued row
  std::optional<UtcTime> last_tick;             // the newest stored heartbeat
  std::optional<ExecutorTrouble> trouble = {};  // and what it says
  // Queued rows whose nonce is out: dispatches that have not begun, of whichever drainer.
  std::vector<Occupied> outstanding = {};
};

class QueueView {
 public:
  virtual ~QueueView() = default;
  virtual Result<std::optional<Execution>> execution(ExecutionId id) = 0;
  virtual Result<std::optional<ExecutionText>> text(ExecutionId id) = 0;
  virtual Result<std::optional<DispatchTrace>> dispatch_trace(ExecutionId id) = 0;
  // Newest first.
  virtual Result<std::vector<Execution>> executions(const ExecutionFilter& filter) = 0;
  // Oldest first, strictly after `after`.
  virtual Result<std::vector<LogLine>> logs(ExecutionId id, LogId after, int limit) = 0;
  virtual Result<QueueFigures> figures() = 0;
  // As DispatchStore has them:
  virtual Result<std::vector<Lane>> lanes(int rows_per_lane) = 0;
  virtual Result<std::vector<RunningRow>> running() = 0;
  virtual Result<std::vector<GateRecord>> gate_records(UtcTime now) = 0;
  virtual Result<Standing> standing() = 0;
};

}  // namespace coderunner
