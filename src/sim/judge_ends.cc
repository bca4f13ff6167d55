// What the clients, the executor and the log say, and what must hold when all is done.
#include <fmt/format.h>

#include <algorithm>

#include "domain/fair_share.h"
#include "sim/judge.h"
#include "sim/stand_ins.h"

namespace coderunner::sim {

Judge::Judge(World& world, MemoryStore& truth, GateStore& gates, bool gates_in_store)
    : world_(world), truth_(truth), gates_(gates), gates_in_store_(gates_in_store) {}

void Judge::submitted(const std::string& identifier, const Arrival& arrival) {
  submissions_[identifier] = {&arrival, std::nullopt, {}};
}

void Judge::answered(const std::string& identifier, const AdmissionAnswer& answer) {
  Submission& sent = submissions_[identifier];
  if (sent.answer) return world_.violate("admission", "answered twice");
  sent.answer = answer;
  if (const auto* error = std::get_if<Error>(&answer)) check_text("an answer", error->message);
}

void Judge::planted(ExecutionId execution, bool has_key) {
  Row& row = rows_[execution];
  row.is_planted = true;
  row.has_key = has_key;
}

void Judge::paused(const AccountId& account, bool is_paused) {
  if (is_paused)
    paused_.insert(account);
  else
    paused_.erase(account);
}

void Judge::gates_read(const Process& reader, const std::vector<Gate>& closed) {
  auto& read = read_gates_[reader.name];
  read.clear();
  for (const Gate& gate : closed) read[gate.key] = gate.until;
}

// ---- the executor

void Judge::script_started(const RunId& run, ExecutionId execution, MonoTime wall,
                           const ProcessRef& process) {
  std::vector<RunId>& started = scripts_[execution];
  must(started.empty(), "begun at most once", execution, "its script was started again");
  started.push_back(run);
  const auto known = runs_.find(run);
  must(known != runs_.end() && known->second.execution == execution, "begun at most once",
       execution, "a script started for a run that never began");
  runs_[run].wall = wall;
  runs_[run].process = process;
}

void Judge::script_ended(const RunId& run, const Outcome& outcome) { runs_[run].outcome = outcome; }

void Judge::nothing_ran(const RunId& run) {
  const auto known = runs_.find(run);
  if (known != runs_.end()) known->second.nothing_ran = true;
}

void Judge::announced(const RunId& run, int call) {
  Run& is = runs_[run];
  const auto row = rows_.find(is.execution);
  if (row != rows_.end() && row->second.last.status == Status::running &&
      row->second.last.run == run)
    is.sending.insert(call);
}

void Judge::effect_landed(const RunId& run, ExecutionId execution, int call) {
  world_.count("effect landed");
  must(runs_[run].sending.contains(call), "effects", execution,
       fmt::format("call {} has an effect that no line of its running row announces", call));
  must(effects_.emplace(execution, call).second, "effects", execution,
       fmt::format("call {} took effect twice", call));
}

// ---- the log

void Judge::record(const Event& event) {
  world_.trace("event {} e{}", event.name, event.execution.value_or(ExecutionId{}).value);
  for (const auto& [name, value] : event.fields) check_text(event.name, value);
}

void Judge::check_text(std::string_view where, std::string_view text) {
  const auto has = [&](std::string_view secret) {
    return text.find(secret) != std::string_view::npos;
  };
  if (has(kSecretKeyMark) || has(kSourceMark) || has(kNonceMark))
    world_.violate("no secret told", fmt::format("{} says {}", where, text));
}

// ---- at points in time

const Arrival* Judge::arrival_of(ExecutionId execution) const {
  const auto row = rows_.find(execution);
  if (row == rows_.end() || !row->second.last.identifier) return nullptr;
  const auto sent = submissions_.find(*row->second.last.identifier);
  return sent == submissions_.end() ? nullptr : sent->second.arrival;
}

std::optional<ExecutionId> Judge::execution_of(JobId job) const {
  for (const auto& [id, row] : rows_)
    if (row.last.job == job) return id;
  return std::nullopt;
}

// Every lane with a queued row is offered to the plan, and is picked, in flight or has a reason.
void Judge::check_reachable() {
  const Settings& is = world_.scenario.settings;
  PlanInput input{.limits = {is.order, is.concurrency, is.per_account},
                  .lanes = *truth_.lanes(is.per_account),
                  .in_flight = {},
                  .gates = {},
                  .paused = paused_,
                  .executor_down_until = {},
                  .now = world_.clock.utc_now()};
  for (const RunningRow& row : *truth_.running())
    input.in_flight.push_back({row.execution, row.account});
  const Plan plan = plan_lanes(input, FairShare{});
  std::set<std::pair<AccountId, std::optional<ApiKeyHash>>> reached;
  for (const Pick& pick : plan.picks) reached.emplace(pick.account, pick.key);
  for (const LaneSkip& skip : plan.skips) reached.emplace(skip.account, skip.key);
  for (const auto& [id, row] : rows_)
    if (row.last.status == Status::queued)
      must(reached.contains({row.last.account_id, row.last.key}), "reachable or a reason", id,
           "its lane is neither picked nor skipped");
}

void Judge::check_end() {
  for (const auto& [id, row] : rows_) check_finished(row);
  for (const auto& [identifier, sent] : submissions_) check_submission(identifier, sent);
}

void Judge::check_finished(const Row& row) {
  const Execution& is = row.last;
  world_.count(to_text(is.state()));
  must(is_finished(is.status), "drains", is.id,
       fmt::format("still {} when the faults have long ended", to_text(is.status)));
  if (is.error_message) check_text("a row", *is.error_message);
  if (is.error_code == number(ErrorCode::does_not_parse) ||
      is.error_code == number(ErrorCode::rejected_for_depth))
    return;
  const bool may_not_begin = !row.has_key || row.is_given_up || (row.is_planted && !is.run);
  must(row.begun == 1 || may_not_begin, "never lost", is.id, "ended without having begun");
  if (world_.scenario.profile != Profile::calm) return;
  const bool by_itself = is.error_code != number(ErrorCode::ended_from_outside);
  must(by_itself, "true outcome", is.id, "killed although nothing failed");
}

void Judge::check_submission(const std::string& identifier, const Submission& sent) {
  const auto fault = [&](bool holds, std::string_view what) {
    if (!holds) world_.violate("admission", fmt::format("submission {}: {}", identifier, what));
  };
  fault(sent.rows.size() <= 1, "more than one row");
  if (!sent.answer) return world_.count("never answered");
  if (const auto* admitted = std::get_if<Admitted>(&*sent.answer)) {
    fault(sent.rows == std::vector{admitted->execution}, "acknowledged, but it has no such row");
  } else if (const auto* unparsable = std::get_if<Unparsable>(&*sent.answer)) {
    fault(sent.rows == std::vector{unparsable->execution}, "refused, but no row says so");
    const auto row = rows_.find(unparsable->execution);
    fault(row == rows_.end() || row->second.last.state() == State::invalid, "shown as valid");
  } else if (const auto* rejected = std::get_if<Rejected>(&*sent.answer)) {
    fault(sent.rows == std::vector{rejected->execution}, "rejected, but no row says so");
    world_.count("rejected for depth");
  } else if (std::holds_alternative<FieldError>(*sent.answer)) {
    fault(sent.rows.empty(), "a bad field, and yet a row");
  } else if (std::get<Error>(*sent.answer).kind != Failure::unknown_outcome) {
    fault(sent.rows.empty(), "told that nothing was kept, and yet a row");
    world_.count("admission refused");
  } else {
    world_.count("admission unknown");
  }
}

}  // namespace coderunner::sim
