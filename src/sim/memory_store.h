// Every face of the store in memory, with the SQL store's semantics: for the unit tests of the
// services and for the simulator. One thread; `done` is called before the call returns. Must never
// be more lenient than the SQL store: both pass one contract suite.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "domain/refusal_tally.h"
#include "seams/control_store.h"
#include "seams/gate_store.h"
#include "seams/store.h"

namespace coderunner {

class MemoryStore final : public AdmissionStore,
                          public DispatchStore,
                          public Ledger,
                          public ReaperStore,
                          public QueueView,
                          public GateStore,
                          public ControlStore {
 public:
  explicit MemoryStore(const GatePolicy& gate = {}) : gate_(gate) {}
  MemoryStore(MemoryStore&&) = default;  // its indexes point into it: never copied
  MemoryStore& operator=(MemoryStore&&) = default;

  // ---- as another program would: an old writer, an operator
  struct Planted {  // the brief's columns, and what the project added
    std::string account;
    std::optional<AccountId> account_id;
    std::optional<ApiKeyHash> key;
    std::string status = "queued";
    std::optional<int> error_code;
    std::optional<UtcTime> queued_at;
    std::optional<UtcTime> started_at;
    std::optional<UtcTime> finished_at;
    std::optional<RunId> run;
    bool with_job = true;
    std::optional<std::string> sealed_key;
  };
  Admitted plant(const Planted& row);  // job 0 where it has none
  void pause_account(const AccountId& account);
  void pause_everybody();
  void resume(const AccountId& account);  // the empty one: everybody
  void each_execution(const std::function<void(const Execution&)>& visit) const;
  std::optional<std::string> sealed_key(JobId job) const;
  std::optional<UtcTime> last_sweep() const { return last_sweep_; }
  const std::vector<AuditEntry>& audit() const { return audit_; }  // oldest first
  // While set, every call fails with it and nothing happens.
  void fail_with(std::optional<Error> error) { failing_ = std::move(error); }

  // ---- AdmissionStore
  void admit(NewExecution execution, AdmitDone done) override;
  void refuse(NewRefusal refusal, RefuseDone done) override;

  // ---- DispatchStore, and what ReaperStore and Ledger share with it
  Result<std::vector<Lane>> lanes(int rows_per_lane) override;
  Result<std::vector<RunningRow>> running() override;
  Result<std::vector<SlotUse>> slot_use(UtcTime since, UtcTime now) override;
  Result<std::vector<GateRecord>> gate_records(UtcTime now) override;
  Result<MintAnswer> mint(const Mint& mint) override;
  Result<RevokeAnswer> revoke(ExecutionId execution, const BackOff& back_off) override;
  Result<int> revoke_all() override;
  Result<bool> abandon(ExecutionId execution, const std::optional<RunId>& run,
                       const std::string& message, UtcTime now) override;
  Result<bool> end_undispatched(ExecutionId execution, const std::string& message,
                                UtcTime now) override;
  Result<std::vector<std::string>> sent_changes(ExecutionId execution) override;
  Result<Done> heartbeat(const Heartbeat& beat) override;
  Result<Standing> standing() override;  // and QueueView's

  // ---- ReaperStore
  Result<std::vector<OldQueuedRow>> queued_before(UtcTime cutoff, UtcTime now, int limit) override;
  Result<bool> end_never_dispatched(const NeverDispatched& verdict) override;
  Result<std::optional<UtcTime>> last_tick() override;
  Result<int> scrub_keys(UtcTime started_before, int most) override;
  Result<int> forget_idempotency_keys(UtcTime queued_before, int most) override;
  Result<int> purge_audit(UtcTime before, int most) override;
  Result<int> forget_gates(UtcTime opened_before, int most) override;
  Result<std::optional<UtcTime>> newest_queued_at() override;
  Result<Purged> purge(const PurgeBatch& batch) override;
  Result<Done> record_sweep(UtcTime now) override;

  // ---- Ledger
  Result<std::variant<Begun, BeginRefused>> begin(const Begin& begin) override;
  Result<FinishAnswer> finish(ExecutionId execution, const RunId& run, const Outcome& outcome,
                              UtcTime now) override;
  Result<Done> append_log(ExecutionId execution, const std::vector<LogLine>& lines) override;
  Result<AnnounceAnswer> announce(ExecutionId execution, const RunId& run,
                                  const std::vector<LogLine>& lines) override;

  // ---- QueueView
  Result<std::optional<Execution>> execution(ExecutionId id) override;
  Result<std::optional<ExecutionText>> text(ExecutionId id) override;
  Result<std::optional<DispatchTrace>> dispatch_trace(ExecutionId id) override;
  Result<std::vector<Execution>> executions(const ExecutionFilter& filter) override;
  Result<std::vector<LogLine>> logs(ExecutionId id, LogId after, int limit) override;
  Result<QueueFigures> figures() override;

  // ---- GateStore
  Result<Gate> close(const Gate& seen, UtcTime now) override;
  Result<std::vector<Gate>> closed(UtcTime now) override;
  Result<std::optional<Gate>> closed(const ApiKeyHash& key, UtcTime now) override;
  Result<std::optional<Gate>> last(const ApiKeyHash& key) override;
  Result<Done> clear(const ApiKeyHash& key) override;

  // ---- ControlStore
  Result<Done> pause(const Act& act, const std::optional<NamedAccount>& whom) override;
  Result<Done> resume(const Act& act, const std::optional<NamedAccount>& whom) override;
  Result<CancelAnswer> cancel(const Act& act, ExecutionId execution) override;
  Result<int> cancel_queued(const Act& act, const NamedAccount& account) override;
  Result<Done> set_per_account(const Act& act, const NamedAccount& account,
                               std::optional<int> cap) override;
  Result<AccountState> account(const AccountId& account) override;
  Result<Done> record(const AuditEntry& entry) override;

 private:
  struct StoredExecution {
    Execution row;
    std::optional<UtcTime> queued_at;  // NULL in rows of old writers
    bool has_account = true;
    std::optional<std::string> source;
  };
  struct StoredJob {
    std::optional<std::string> sealed_key;
    std::optional<std::string> payload;
    std::optional<NonceHash> nonce;
    std::optional<UtcTime> minted_at;
    DispatchTrace trace;
    AdmissionRef ref;
    AccountId account;
    std::optional<Idempotency> idempotency;
  };
  struct StoredTally {
    RefusalTally counted;
    std::optional<ExecutionId> row;  // that counts the rest
  };

  // Of one account (NULLs first, as in the SQL store's index) and key, oldest first.
  using LaneKey = std::tuple<bool, AccountId, std::optional<ApiKeyHash>>;
  using LaneRows = std::map<std::pair<UtcTime, ExecutionId>, const StoredExecution*>;

  GateRecord record_of(const Gate& gate) const;
  std::optional<AdmitAnswer> find_by_key(const AccountId& account, const Idempotency& asked);
  std::optional<TooDeep> find_too_deep(const AccountId& account, const DepthCaps& caps) const;
  ExecutionId add_refusal(const NewRefusal& refusal);
  ExecutionId count_only(const NewRefusal& refusal, const AccountId& counted_for);
  ExecutionId add(StoredExecution execution);
  StoredExecution* find(ExecutionId id);
  StoredJob* job_of(const Execution& row);
  StoredExecution* find_queued(JobId job);
  bool is_gated(const std::optional<ApiKeyHash>& key, UtcTime now) const;
  bool is_parked(const StoredExecution& stored, UtcTime now) const;
  void end_queued(StoredExecution& stored, const std::string& message, UtcTime now);
  void enter_lane(const StoredExecution& stored);
  void leave_lane(const StoredExecution& stored);
  void enter_as_finished(const StoredExecution& stored);
  void ended(const StoredExecution& stored);
  bool cancel_row(const Act& act, StoredExecution* stored);
  bool end_run(StoredExecution* at, const std::optional<RunId>& run, const Outcome& outcome,
               UtcTime now);

  std::map<ExecutionId, StoredExecution> executions_;
  std::map<ExecutionId, StoredExecution*> unfinished_;  // of them: no tick costs what history does
  std::map<LaneKey, LaneRows> lanes_;  // what is queued: nor what waits behind the heads
  std::set<std::tuple<ApiKeyHash, UtcTime, ExecutionId>> ended_runs_;  // by when they began
  std::map<JobId, StoredJob> jobs_;
  std::set<AdmissionRef> refs_;  // of the jobs
  std::map<ExecutionId, std::vector<LogLine>> logs_;
  GatePolicy gate_;
  std::map<ApiKeyHash, Gate> gates_;
  std::map<DrainerId, Heartbeat> heartbeats_;
  std::optional<UtcTime> last_sweep_;
  std::map<std::pair<UtcTime, AccountId>, StoredTally> tallies_;  // the empty one: everybody
  std::set<AccountId> paused_;                                    // the empty one pauses everybody
  std::map<AccountId, int> per_account_;
  std::vector<AuditEntry> audit_;
  std::optional<Error> failing_;
  std::int64_t last_execution_ = 0;
  std::int64_t last_job_ = 0;
  std::int64_t last_log_ = 0;
};

}  // namespace coderunner
