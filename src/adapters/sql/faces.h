// The faces of the store over SQL: reads go to the pool, writes to the commit queue, texts come
// from statements.h. Made and owned by the SqlStore; thread-safe, because what they borrow is. Must
// never decide anything: every rule stands in a statement's condition or in the domain.
#pragma once

#include "adapters/sql/commit_queue.h"
#include "adapters/sql/depths.h"
#include "adapters/sql/reader_pool.h"
#include "seams/control_store.h"
#include "seams/gate_store.h"
#include "seams/store.h"

namespace coderunner::sql {

class AdmissionFace final : public AdmissionStore {
 public:
  explicit AdmissionFace(CommitQueue& writer) : writer_(writer) {}
  void admit(NewExecution execution, AdmitDone done) override;
  void refuse(NewRefusal refusal, RefuseDone done) override;

 private:
  CommitQueue& writer_;
  // Used inside units only, and those that are queued still outlive the face.
  const std::shared_ptr<Depths> depths_ = std::make_shared<Depths>();
};

class DispatchFace final : public DispatchStore {
 public:
  DispatchFace(CommitQueue& writer, ReaderPool& readers, const GatePolicy& gate)
      : writer_(writer), readers_(readers), gate_(gate) {}
  Result<std::vector<Lane>> lanes(int rows_per_lane) override;
  Result<std::vector<RunningRow>> running() override;
  Result<std::vector<SlotUse>> slot_use(UtcTime since, UtcTime now) override;
  Result<std::vector<GateRecord>> gate_records(UtcTime now) override;
  Result<Standing> standing() override;
  Result<MintAnswer> mint(const Mint& mint) override;
  Result<RevokeAnswer> revoke(ExecutionId execution, const BackOff& back_off) override;
  Result<int> revoke_all() override;
  Result<bool> abandon(ExecutionId execution, const std::optional<RunId>& run,
                       const std::string& reason, UtcTime now) override;
  Result<bool> end_undispatched(ExecutionId execution, const std::string& message,
                                UtcTime now) override;
  Result<Done> heartbeat(const Heartbeat& beat) override;

 private:
  CommitQueue& writer_;
  ReaderPool& readers_;
  GatePolicy gate_;
};

class LedgerFace final : public Ledger {
 public:
  LedgerFace(CommitQueue& writer, ReaderPool& readers) : writer_(writer), readers_(readers) {}
  Result<std::variant<Begun, BeginRefused>> begin(const Begin& begin) override;
  Result<FinishAnswer> finish(ExecutionId execution, const RunId& run, const Outcome& outcome,
                              UtcTime now) override;
  Result<Done> append_log(ExecutionId execution, const std::vector<LogLine>& lines) override;
  Result<AnnounceAnswer> announce(ExecutionId execution, const RunId& run,
                                  const std::vector<LogLine>& lines) override;
  Result<std::vector<std::string>> sent_changes(ExecutionId execution) override;

 private:
  CommitQueue& writer_;
  ReaderPool& readers_;
};

class ReaperFace final : public ReaperStore {
 public:
  ReaperFace(CommitQueue& writer, ReaderPool& readers, const GatePolicy& gate)
      : writer_(writer), readers_(readers), gate_(gate) {}
  Result<std::vector<RunningRow>> running() override;
  Result<bool> abandon(ExecutionId execution, const std::optional<RunId>& run,
                       const std::string& reason, UtcTime now) override;
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

 private:
  Result<int> change_due(std::string_view due, std::string_view change, const Values& values);

  CommitQueue& writer_;
  ReaderPool& readers_;
  GatePolicy gate_;
};

class ViewFace final : public QueueView {
 public:
  explicit ViewFace(ReaderPool& readers) : readers_(readers) {}
  Result<std::optional<Execution>> execution(ExecutionId id) override;
  Result<std::optional<ExecutionText>> text(ExecutionId id) override;
  Result<std::optional<DispatchTrace>> dispatch_trace(ExecutionId id) override;
  Result<std::vector<Execution>> executions(const ExecutionFilter& filter) override;
  Result<std::vector<LogLine>> logs(ExecutionId id, LogId after, int limit) override;
  Result<QueueFigures> figures() override;
  Result<std::vector<Lane>> lanes(int rows_per_lane) override;
  Result<std::vector<RunningRow>> running() override;
  Result<std::vector<GateRecord>> gate_records(UtcTime now) override;
  Result<Standing> standing() override;

 private:
  ReaderPool& readers_;
};

class GateFace final : public GateStore {
 public:
  GateFace(CommitQueue& writer, ReaderPool& readers, const GatePolicy& policy)
      : writer_(writer), readers_(readers), policy_(policy) {}
  Result<Gate> close(const Gate& seen, UtcTime now) override;
  Result<std::vector<Gate>> closed(UtcTime now) override;
  Result<std::optional<Gate>> closed(const ApiKeyHash& key, UtcTime now) override;
  Result<std::optional<Gate>> last(const ApiKeyHash& key) override;
  Result<Done> clear(const ApiKeyHash& key) override;

 private:
  CommitQueue& writer_;
  ReaderPool& readers_;
  GatePolicy policy_;
};

class ControlFace final : public ControlStore {
 public:
  ControlFace(CommitQueue& writer, ReaderPool& readers) : writer_(writer), readers_(readers) {}
  Result<Done> pause(const Act& act, const std::optional<NamedAccount>& whom) override;
  Result<Done> resume(const Act& act, const std::optional<NamedAccount>& whom) override;
  Result<CancelAnswer> cancel(const Act& act, ExecutionId execution) override;
  Result<int> cancel_queued(const Act& act, const NamedAccount& account) override;
  Result<Done> set_per_account(const Act& act, const NamedAccount& account,
                               std::optional<int> cap) override;
  Result<AccountState> account(const AccountId& account) override;
  Result<Done> record(const AuditEntry& entry) override;

 private:
  CommitQueue& writer_;
  ReaderPool& readers_;
};

Result<std::vector<Lane>> read_lanes(Session& session, int rows_per_lane);
Result<std::vector<GateRecord>> read_gate_records(Session& session, UtcTime now);

// Ends the run with this id (NULL: a row of an old writer) and scrubs its job's API key; in the
// open transaction. False where it is not that running row.
struct RunEnd {
  ExecutionId execution;
  std::optional<RunId> run;
  Outcome outcome;
  UtcTime now;
};
Result<bool> end_run(Session& session, const RunEnd& end);
// The mark that end_run leaves.
Result<bool> run_ended(Session& session, const RunEnd& end);

// What more than one face does.
Result<std::vector<RunningRow>> read_running_rows(Session& session);
Result<Standing> read_standing(Session& session);
Result<std::vector<std::string>> read_sent_changes(Session& session, ExecutionId execution);
struct Abandoned {
  ExecutionId execution;
  std::optional<RunId> run;
  std::string reason;
  UtcTime now;
};
Result<bool> abandon_run(CommitQueue& writer, const Abandoned& of);

}  // namespace coderunner::sql
