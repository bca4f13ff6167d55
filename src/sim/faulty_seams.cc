#include "sim/faulty_seams.h"

#include <algorithm>
#include <utility>

namespace coderunner::sim {
namespace {

bool is_unknown(CallFaultKind kind) {
  return kind == CallFaultKind::unknown_done || kind == CallFaultKind::unknown_not_done;
}

}  // namespace

FaultySeams::FaultySeams(Shared& shared, ProcessRef process)
    : shared_(shared), process_(std::move(process)) {}

void FaultySeams::strike(const CallFault& fault, CallFaultKind kind) {
  if (fault.kind != kind) return;
  shared_.world.count(to_text(kind));
  shared_.world.trace("{} meets {}", process_->name, to_text(kind));
  switch (kind) {
    case CallFaultKind::crash_before:
    case CallFaultKind::crash_after: shared_.world.kill(*process_); throw Killed{};
    case CallFaultKind::pause_before:
    case CallFaultKind::pause_after: shared_.world.sleep(*process_, fault.pause); break;
    case CallFaultKind::unavailable:
    case CallFaultKind::unknown_done:
    case CallFaultKind::unknown_not_done: break;
  }
}

FaultySeams::Entered FaultySeams::enter(std::string_view name, MonoTime away_until) {
  if (!process_->is_alive) throw Killed{};
  Entered entered{.name = name, .fault = {}, .refused = {}};
  const auto role = static_cast<std::size_t>(process_->role);
  const auto at = shared_.faults[role].find(++shared_.calls[role]);
  if (at != shared_.faults[role].end() && !shared_.has_healed) entered.fault = at->second;
  if (entered.fault) {
    shared_.world.trace("{} calls {}", process_->name, name);
    strike(*entered.fault, CallFaultKind::pause_before);
    strike(*entered.fault, CallFaultKind::crash_before);
    strike(*entered.fault, CallFaultKind::unavailable);
    strike(*entered.fault, CallFaultKind::unknown_not_done);
    if (entered.fault->kind == CallFaultKind::unavailable)
      entered.refused = fail(Failure::unavailable, "the store is away");
    if (entered.fault->kind == CallFaultKind::unknown_not_done)
      entered.refused = fail(Failure::unknown_outcome, "nobody knows (not done)");
  }
  if (shared_.world.now() < away_until)
    entered.refused = fail(Failure::unavailable, "the store is away");
  return entered;
}

// After a call that was made; an error where its answer is lost.
std::optional<Error> FaultySeams::leave(const Entered& entered, Kind kind) {
  if (kind == Kind::write) shared_.judge.wrote({process_, entered.name});
  if (!entered.fault) return std::nullopt;
  strike(*entered.fault, CallFaultKind::pause_after);
  strike(*entered.fault, CallFaultKind::crash_after);
  strike(*entered.fault, CallFaultKind::unknown_done);
  if (entered.fault->kind == CallFaultKind::unknown_done)
    return fail(kind == Kind::write ? Failure::unknown_outcome : Failure::unavailable,
                "nobody knows (done)");
  return std::nullopt;
}

template <class T>
Result<T> FaultySeams::call(std::string_view name, Kind kind,
                            const std::function<Result<T>()>& inner) {
  const Entered entered = enter(name, shared_.store_away_until);
  if (entered.refused) {
    const bool reads = kind == Kind::read;
    return reads ? fail(Failure::unavailable, entered.refused->message) : *entered.refused;
  }
  Result<T> result = inner();
  if (auto lost = leave(entered, kind)) return *lost;
  return result;
}

template <class T>
Result<T> FaultySeams::gate_call(std::string_view name, Kind kind,
                                 const std::function<Result<T>()>& inner) {
  const MonoTime store = shared_.gates_in_store ? shared_.store_away_until : MonoTime{};
  const Entered entered = enter(name, std::max(store, shared_.gates_away_until));
  if (entered.refused) return *entered.refused;
  Result<T> result = inner();
  if (auto lost = leave(entered, kind)) return *lost;
  return result;
}

// ---- AdmissionStore

void FaultySeams::admit(NewExecution execution, AdmitDone done) {
  const auto commit = [this, execution = std::move(execution), done = std::move(done)] {
    std::optional<Result<AdmitAnswer>> answer;
    const auto made = call<AdmitAnswer>("admit", Kind::write, [&]() -> Result<AdmitAnswer> {
      shared_.admission.admit(execution, [&](const Result<AdmitAnswer>& given) { answer = given; });
      return *answer;
    });
    done(made);
  };
  const Millis takes = std::exchange(commit_takes_, Millis{0});
  if (takes == Millis{0}) return commit();
  shared_.world.after(takes, process_, commit);
}

void FaultySeams::refuse(NewRefusal refusal, RefuseDone done) {
  std::optional<Result<ExecutionId>> answer;
  done(call<ExecutionId>("refuse", Kind::write, [&]() -> Result<ExecutionId> {
    shared_.admission.refuse(refusal, [&](Result<ExecutionId> kept) { answer = std::move(kept); });
    return *answer;
  }));
}

// ---- DispatchStore

Result<std::vector<Lane>> FaultySeams::lanes(int rows_per_lane) {
  std::int64_t rows_then = 0;
  auto lanes = call<std::vector<Lane>>("lanes", Kind::read, [&] {
    rows_then = shared_.judge.rows_seen();
    return shared_.dispatch.lanes(rows_per_lane);
  });
  if (lanes) shared_.judge.lanes_read(rows_then);
  return lanes;
}

Result<std::vector<RunningRow>> FaultySeams::running() {
  auto running = call<std::vector<RunningRow>>("running", Kind::read,
                                               [&] { return shared_.dispatch.running(); });
  if (running) shared_.judge.running_read(*process_);
  return running;
}

Result<std::vector<SlotUse>> FaultySeams::slot_use(UtcTime since, UtcTime now) {
  return call<std::vector<SlotUse>>("slot_use", Kind::read,
                                    [&] { return shared_.dispatch.slot_use(since, now); });
}

Result<std::vector<GateRecord>> FaultySeams::gate_records(UtcTime now) {
  return call<std::vector<GateRecord>>("gate_records", Kind::read,
                                       [&] { return shared_.dispatch.gate_records(now); });
}

Result<MintAnswer> FaultySeams::mint(const Mint& mint) {
  return call<MintAnswer>("mint", Kind::write, [&] {
    auto answer = shared_.dispatch.mint(mint);
    shared_.world.trace("{} mints e{}: {}", process_->name, mint.execution.value,
                        answer ? static_cast<int>(*answer) : -1);
    if (answer && *answer == MintAnswer::minted) shared_.judge.minted(*process_, mint);
    return answer;
  });
}

Result<RevokeAnswer> FaultySeams::revoke(ExecutionId execution, const BackOff& back_off) {
  return call<RevokeAnswer>("revoke", Kind::write, [&] {
    auto answer = shared_.dispatch.revoke(execution, back_off);
    shared_.world.trace("{} revokes e{}: {} ({})", process_->name, execution.value,
                        answer ? static_cast<int>(*answer) : -1, back_off.error);
    if (answer && *answer == RevokeAnswer::free) shared_.judge.revoked(execution);
    return answer;
  });
}

Result<int> FaultySeams::revoke_all() {
  return call<int>("revoke_all", Kind::write, [&] {
    auto revoked = shared_.dispatch.revoke_all();
    if (revoked) shared_.judge.revoked_all();
    return revoked;
  });
}

Result<bool> FaultySeams::abandon(ExecutionId execution, const std::optional<RunId>& run,
                                  const std::string& message, UtcTime now) {
  return call<bool>("abandon", Kind::write, [&] {
    shared_.world.trace("{} abandons e{}: {}", process_->name, execution.value, message);
    return shared_.dispatch.abandon(execution, run, message, now);
  });
}

Result<bool> FaultySeams::end_undispatched(ExecutionId execution, const std::string& message,
                                           UtcTime now) {
  return call<bool>("end_undispatched", Kind::write, [&] {
    shared_.world.trace("{} ends e{}: {}", process_->name, execution.value, message);
    return shared_.dispatch.end_undispatched(execution, message, now);
  });
}

Result<Done> FaultySeams::heartbeat(const Heartbeat& beat) {
  return call<Done>("heartbeat", Kind::read, [&] {
    shared_.judge.heartbeat();
    return shared_.dispatch.heartbeat(beat);
  });
}

Result<Standing> FaultySeams::standing() {
  return call<Standing>("standing", Kind::read, [&] { return shared_.dispatch.standing(); });
}

Result<std::vector<std::string>> FaultySeams::sent_changes(ExecutionId execution) {
  return call<std::vector<std::string>>("sent_changes", Kind::read,
                                        [&] { return shared_.ledger.sent_changes(execution); });
}

// ---- ReaperStore

Result<std::vector<OldQueuedRow>> FaultySeams::queued_before(UtcTime cutoff, UtcTime now,
                                                             int limit) {
  return call<std::vector<OldQueuedRow>>("queued_before", Kind::read, [&] {
    return shared_.reaper.queued_before(cutoff, now, limit);
  });
}

Result<bool> FaultySeams::end_never_dispatched(const NeverDispatched& verdict) {
  return call<bool>("end_never_dispatched", Kind::write, [&] {
    shared_.world.trace("{} gives up e{}", process_->name, verdict.execution.value);
    return shared_.reaper.end_never_dispatched(verdict);
  });
}

Result<std::optional<UtcTime>> FaultySeams::last_tick() {
  return call<std::optional<UtcTime>>("last_tick", Kind::read,
                                      [&] { return shared_.reaper.last_tick(); });
}

Result<int> FaultySeams::forget_idempotency_keys(UtcTime queued_before, int most) {
  return call<int>("forget_idempotency_keys", Kind::write,
                   [&] { return shared_.reaper.forget_idempotency_keys(queued_before, most); });
}

Result<int> FaultySeams::purge_audit(UtcTime before, int most) {
  return call<int>("purge_audit", Kind::write,
                   [&] { return shared_.reaper.purge_audit(before, most); });
}

Result<int> FaultySeams::forget_gates(UtcTime opened_before, int most) {
  return call<int>("forget_gates", Kind::write,
                   [&] { return shared_.reaper.forget_gates(opened_before, most); });
}

Result<int> FaultySeams::scrub_keys(UtcTime started_before, int most) {
  return call<int>("scrub_keys", Kind::write,
                   [&] { return shared_.reaper.scrub_keys(started_before, most); });
}

Result<std::optional<UtcTime>> FaultySeams::newest_queued_at() {
  return call<std::optional<UtcTime>>("newest_queued_at", Kind::read,
                                      [&] { return shared_.reaper.newest_queued_at(); });
}

Result<Purged> FaultySeams::purge(const PurgeBatch& batch) {
  return call<Purged>("purge", Kind::write, [&] { return shared_.reaper.purge(batch); });
}

Result<Done> FaultySeams::record_sweep(UtcTime now) {
  return call<Done>("record_sweep", Kind::read, [&] { return shared_.reaper.record_sweep(now); });
}

// ---- Ledger

Result<std::variant<Begun, BeginRefused>> FaultySeams::begin(const Begin& begin) {
  using Answer = std::variant<Begun, BeginRefused>;
  const Entered entered = enter("begin", shared_.store_away_until);
  if (entered.refused) {
    // A transaction that reached its commit has told who would have begun, whatever became of it.
    const auto execution = shared_.judge.execution_of(begin.job);
    const bool is_told = entered.fault && is_unknown(entered.fault->kind);
    if (is_told && execution && begin.before_commit) begin.before_commit(*execution);
    return *entered.refused;
  }
  Result<Answer> answer = shared_.ledger.begin(begin);
  const bool begun = answer && std::holds_alternative<Begun>(*answer);
  shared_.world.trace("{} begins j{}: {}", process_->name, begin.job.value, begun);
  if (auto lost = leave(entered, Kind::write)) return *lost;
  return answer;
}

Result<FinishAnswer> FaultySeams::finish(ExecutionId execution, const RunId& run,
                                         const Outcome& outcome, UtcTime now) {
  return call<FinishAnswer>("finish", Kind::write, [&] {
    auto answer = shared_.ledger.finish(execution, run, outcome, now);
    shared_.world.trace("{} finishes e{} {}: {}", process_->name, execution.value,
                        outcome.code ? number(*outcome.code) : 0,
                        answer ? static_cast<int>(*answer) : -1);
    return answer;
  });
}

Result<Done> FaultySeams::append_log(ExecutionId execution, const std::vector<LogLine>& lines) {
  return call<Done>("append_log", Kind::write,
                    [&] { return shared_.ledger.append_log(execution, lines); });
}

Result<AnnounceAnswer> FaultySeams::announce(ExecutionId execution, const RunId& run,
                                             const std::vector<LogLine>& lines) {
  return call<AnnounceAnswer>("announce", Kind::write,
                              [&] { return shared_.ledger.announce(execution, run, lines); });
}

// ---- GateStore

Result<Gate> FaultySeams::close(const Gate& seen, UtcTime now) {
  return gate_call<Gate>("close_gate", Kind::read, [&] { return shared_.gates.close(seen, now); });
}

Result<std::vector<Gate>> FaultySeams::closed(UtcTime now) {
  auto closed = gate_call<std::vector<Gate>>("closed_gates", Kind::read,
                                             [&] { return shared_.gates.closed(now); });
  if (closed) shared_.judge.gates_read(*process_, *closed);
  return closed;
}

Result<std::optional<Gate>> FaultySeams::closed(const ApiKeyHash& key, UtcTime now) {
  return gate_call<std::optional<Gate>>("closed_gate", Kind::read,
                                        [&] { return shared_.gates.closed(key, now); });
}

Result<std::optional<Gate>> FaultySeams::last(const ApiKeyHash& key) {
  return gate_call<std::optional<Gate>>("last_gate", Kind::read,
                                        [&] { return shared_.gates.last(key); });
}

Result<Done> FaultySeams::clear(const ApiKeyHash& key) {
  return gate_call<Done>("clear_gate", Kind::read, [&] { return shared_.gates.clear(key); });
}

}  // namespace coderunner::sim
