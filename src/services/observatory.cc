#include "services/observatory.h"

#include <algorithm>
#include <array>
#include <utility>

namespace coderunner {
namespace {

constexpr std::array<std::pair<DrainerState, std::string_view>, 7> kWords{{
    {DrainerState::stalled, "stalled"},
    {DrainerState::paused, "paused"},
    {DrainerState::executor_unavailable, "executor_unavailable"},
    {DrainerState::saturated, "saturated"},
    {DrainerState::draining, "draining"},
    {DrainerState::gated, "gated"},
    {DrainerState::idle, "idle"},
}};

const Gate* gate_of(const QueueSnapshot& snapshot, const std::optional<ApiKeyHash>& key) {
  if (!key) return nullptr;
  for (const Gate& gate : snapshot.gates)
    if (gate.key == *key && gate.until > snapshot.now) return &gate;
  return nullptr;
}

int total_in_flight(const QueueSnapshot& snapshot) {
  int in_flight = 0;
  for (const AccountFigures& account : snapshot.figures.accounts) in_flight += account.in_flight;
  return in_flight;
}

bool executor_is_down(const QueueSnapshot& snapshot) {
  return snapshot.drainer.executor_down_until.has_value();
}

std::optional<UtcTime> last_tick(const QueueSnapshot& snapshot) {
  return std::max(snapshot.figures.last_tick, snapshot.drainer.last_tick);
}

Millis age(const QueueSnapshot& snapshot, UtcTime since) {
  return std::max(snapshot.now - since, Millis{0});
}

DrainerState state_of(const QueueReport& report, const QueueSnapshot& snapshot, int eligible) {
  const bool stalled =
      !report.last_tick || snapshot.now - *report.last_tick > limits::kStalledAfter;
  if (stalled) return DrainerState::stalled;
  if (executor_is_down(snapshot)) return DrainerState::executor_unavailable;
  if (eligible > 0 && report.in_flight >= report.concurrency) return DrainerState::saturated;
  if (eligible > 0 || report.in_flight > 0) return DrainerState::draining;
  return report.depth > 0 ? DrainerState::gated : DrainerState::idle;
}

}  // namespace

std::string_view to_text(DrainerState state) {
  for (const auto& [key, word] : kWords)
    if (key == state) return word;
  return {};
}

QueueReport report_queue(const QueueSnapshot& snapshot) {
  QueueReport report{.in_flight = total_in_flight(snapshot),
                     .concurrency = snapshot.limits.concurrency,
                     .last_tick = last_tick(snapshot),
                     .executor_error = snapshot.drainer.executor_error,
                     .gated_keys = {},
                     .accounts = snapshot.figures.accounts,
                     .now = snapshot.now};
  int eligible = 0;
  for (const Gate& gate : snapshot.gates)
    if (gate.until > snapshot.now) report.gated_keys.push_back({gate.key, gate.until, 0});
  for (const KeyFigures& lane : snapshot.figures.lanes) {
    report.depth += lane.queued;
    const Millis waited = age(snapshot, lane.oldest_queued_at);
    if (gate_of(snapshot, lane.key) == nullptr) {
      eligible += lane.queued;
      report.oldest_eligible_age = std::max(report.oldest_eligible_age, waited);
      continue;
    }
    report.oldest_parked_age = std::max(report.oldest_parked_age, waited);
    for (GatedKey& gated : report.gated_keys)
      if (gated.key == *lane.key) gated.queued += lane.queued;
  }
  report.oldest_queued_age = std::max(report.oldest_eligible_age, report.oldest_parked_age);
  report.state = state_of(report, snapshot, eligible);
  return report;
}

WaitReason why_queued(const Execution& execution, const QueueSnapshot& snapshot) {
  if (const Gate* gate = gate_of(snapshot, execution.key))
    return {QueuedReason::key_gated, gate->until};
  if (executor_is_down(snapshot))
    return {QueuedReason::executor_unavailable, snapshot.drainer.executor_down_until};
  for (const AccountFigures& account : snapshot.figures.accounts)
    if (account.account_id == execution.account_id &&
        account.in_flight >= snapshot.limits.per_account)
      return {QueuedReason::account_at_cap, std::nullopt};
  if (total_in_flight(snapshot) >= snapshot.limits.concurrency)
    return {QueuedReason::no_free_slot, std::nullopt};
  for (const KeyFigures& lane : snapshot.figures.lanes)
    if (lane.account_id == execution.account_id && lane.key == execution.key &&
        lane.oldest_queued_at < execution.queued_at)
      return {QueuedReason::behind, std::nullopt};
  return {QueuedReason::next, std::nullopt};
}

Observatory::Observatory(PlanLimits limits, ObservatoryParts parts)
    : limits_(limits), parts_(std::move(parts)) {}

Result<QueueSnapshot> Observatory::snapshot() {
  QueueSnapshot snapshot{.figures = {},
                         .gates = {},
                         .drainer = parts_.drainer(),
                         .limits = limits_,
                         .now = parts_.clock.utc_now()};
  auto figures = parts_.view.figures();
  if (!figures) return figures.error();
  auto gates = parts_.gates.closed(snapshot.now);
  if (!gates) return gates.error();
  snapshot.figures = *std::move(figures);
  snapshot.gates = *std::move(gates);
  return snapshot;
}

Result<QueueReport> Observatory::queue() {
  const auto taken = snapshot();
  if (!taken) return taken.error();
  return report_queue(*taken);
}

Result<std::optional<ExecutionReport>> Observatory::execution(ExecutionId id) {
  auto found = parts_.view.execution(id);
  if (!found) return found.error();
  if (!*found) return std::optional<ExecutionReport>{};
  ExecutionReport report{**std::move(found), std::nullopt};
  if (report.execution.status == Status::queued) {
    const auto taken = snapshot();
    if (!taken) return taken.error();
    report.waits = why_queued(report.execution, *taken);
  }
  return std::optional{std::move(report)};
}

Result<std::vector<ExecutionReport>> Observatory::executions(const ExecutionFilter& filter) {
  auto found = parts_.view.executions(filter);
  if (!found) return found.error();
  std::optional<QueueSnapshot> taken;
  std::vector<ExecutionReport> reports;
  for (Execution& execution : *found) {
    std::optional<WaitReason> waits;
    if (execution.status == Status::queued) {
      if (!taken) {
        auto now = snapshot();
        if (!now) return now.error();
        taken = *std::move(now);
      }
      waits = why_queued(execution, *taken);
    }
    reports.push_back({std::move(execution), waits});
  }
  return reports;
}

}  // namespace coderunner
