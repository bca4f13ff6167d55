// Every face of the store, and the gate store, as one simulated process sees them: a decorator over
// the true ones that fails, lies about what happened, crashes or pauses the caller at the calls the
// scenario names, and tells the judge of every write. No hook in product code.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "seams/gate_store.h"
#include "seams/store.h"
#include "sim/judge.h"
#include "sim/world.h"

namespace coderunner::sim {

// What the processes of a run share: the true faces, and how far each role has come.
struct Shared {
  World& world;
  Judge& judge;
  AdmissionStore& admission;
  DispatchStore& dispatch;
  Ledger& ledger;
  ReaperStore& reaper;
  GateStore& gates;
  bool gates_in_store = true;
  MonoTime store_away_until{};
  MonoTime gates_away_until{};
  bool has_healed = false;                  // no fault from now on
  std::map<ExecutionId, int> dispatches{};  // so far, whoever the drainer was
  std::array<int, kRoles> calls{};
  std::array<std::map<int, CallFault>, kRoles> faults{};
};

class FaultySeams final : public AdmissionStore,
                          public DispatchStore,
                          public Ledger,
                          public ReaperStore,
                          public GateStore {
 public:
  FaultySeams(Shared& shared, ProcessRef process);

  // ---- AdmissionStore: durable, and answered, some time later
  void admit(NewExecution execution, AdmitDone done) override;
  void refuse(NewRefusal refusal, RefuseDone done) override;
  void next_commit_takes(Millis duration) { commit_takes_ = duration; }

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
  Result<Standing> standing() override;

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

  // ---- GateStore
  Result<Gate> close(const Gate& seen, UtcTime now) override;
  Result<std::vector<Gate>> closed(UtcTime now) override;
  Result<std::optional<Gate>> closed(const ApiKeyHash& key, UtcTime now) override;
  Result<std::optional<Gate>> last(const ApiKeyHash& key) override;
  Result<Done> clear(const ApiKeyHash& key) override;

 private:
  enum class Kind { read, write };
  struct Entered {  // one call, before it is made
    std::string_view name;
    std::optional<CallFault> fault;
    std::optional<Error> refused;  // nothing is done
  };

  Entered enter(std::string_view name, MonoTime away_until);
  void strike(const CallFault& fault, CallFaultKind kind);
  std::optional<Error> leave(const Entered& entered, Kind kind);
  template <class T>
  Result<T> call(std::string_view name, Kind kind, const std::function<Result<T>()>& inner);
  template <class T>
  Result<T> gate_call(std::string_view name, Kind kind, const std::function<Result<T>()>& inner);

  Shared& shared_;
  ProcessRef process_;
  Millis commit_takes_{0};
};

}  // namespace coderunner::sim
