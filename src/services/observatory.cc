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

// What the plan says of a lane; nullptr where its head is picked.
const LaneSkip* skip_of(const Plan& plan, const AccountId& account,
                        const std::optional<ApiKeyHash>& key) {
  for (const LaneSkip& skip : plan.skips)
    if (skip.account == account && skip.key == key) return &skip;
  return nullptr;
}

// Waits for a time or an operator, not for a slot (rulings 15).
bool is_parked(const LaneSkip* skip) {
  return skip != nullptr &&
         (skip->reason == QueuedReason::paused || skip->reason == QueuedReason::key_gated);
}

bool is_listed(const auto& rows, ExecutionId execution) {
  return std::ranges::any_of(rows, [&](const auto& row) { return row.execution == execution; });
}

// One set by execution id: a dispatch may have begun between the two readings.
std::vector<Occupied> in_flight(const QueueSnapshot& snapshot) {
  std::vector<Occupied> occupied;
  for (const RunningRow& row : snapshot.running)
    occupied.push_back({row.execution, row.account, row.key});
  for (const Occupied& out : snapshot.figures.outstanding)
    if (!is_listed(snapshot.running, out.execution)) occupied.push_back(out);
  return occupied;
}

int not_begun(const QueueSnapshot& snapshot, const KeyFigures& lane) {
  return static_cast<int>(std::ranges::count_if(
      snapshot.figures.outstanding,
      [&](const Occupied& out) { return out.account == lane.account_id && out.key == lane.key; }));
}

// What the drainer of another process last said of itself, for as long as it ticks.
DrainerStatus stored_status(const QueueFigures& figures, UtcTime now) {
  DrainerStatus status{
      .last_tick = figures.last_tick, .executor_down_until = {}, .executor_error = {}};
  const bool ticks = figures.last_tick && now - *figures.last_tick <= limits::kStalledAfter;
  if (!ticks || !figures.trouble) return status;
  status.executor_down_until = figures.trouble->until;
  status.executor_error = figures.trouble->error;
  return status;
}

// Only what waits, and of that the first.
void keep_heads(std::vector<Lane>& lanes, const std::vector<Occupied>& outstanding) {
  for (Lane& lane : lanes) {
    std::erase_if(lane.rows,
                  [&](const LaneRow& row) { return is_listed(outstanding, row.execution); });
    if (lane.rows.size() > 1) lane.rows.erase(lane.rows.begin() + 1, lane.rows.end());
  }
  std::erase_if(lanes, [](const Lane& lane) { return lane.rows.empty(); });
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
  if (snapshot.standing.everybody_paused) return DrainerState::paused;
  if (executor_is_down(snapshot)) return DrainerState::executor_unavailable;
  if (eligible > 0 && report.in_flight >= report.concurrency) return DrainerState::saturated;
  if (eligible > 0 || report.in_flight > 0) return DrainerState::draining;
  const bool has_gated =
      std::ranges::any_of(report.gated_keys, [](const GatedKey& key) { return key.queued > 0; });
  return has_gated ? DrainerState::gated : DrainerState::idle;  // idle: all are of paused accounts
}

}  // namespace

std::string_view to_text(DrainerState state) {
  for (const auto& [key, word] : kWords)
    if (key == state) return word;
  return {};
}

Plan plan_of(const QueueSnapshot& snapshot) {
  PlanInput input{.limits = snapshot.limits,
                  .lanes = snapshot.lanes,
                  .everybody_paused = snapshot.standing.everybody_paused,
                  .paused = snapshot.standing.paused,
                  .per_account = snapshot.standing.per_account,
                  .now = snapshot.now};
  // Down until a dispatch has begun again, not only until it is tried.
  if (const auto until = snapshot.drainer.executor_down_until)
    input.executor_down_until = std::max(*until, snapshot.now + Millis{1});
  input.in_flight = in_flight(snapshot);
  for (const Gate& gate : snapshot.gates) input.gates[gate.key] = gate.until;
  take_gate_records(input, snapshot.gate_records, snapshot.gate);
  return plan_lanes(input, FairShare{});
}

QueueReport report_queue(const QueueSnapshot& snapshot) {
  const std::vector<Occupied> occupied = in_flight(snapshot);
  QueueReport report{.in_flight = static_cast<int>(occupied.size()),
                     .concurrency = snapshot.limits.concurrency,
                     .last_tick = last_tick(snapshot),
                     .executor_error = snapshot.drainer.executor_error,
                     .gated_keys = {},
                     .accounts = snapshot.figures.accounts,
                     .now = snapshot.now};
  for (AccountFigures& account : report.accounts)
    account.in_flight =
        static_cast<int>(std::ranges::count(occupied, account.account_id, &Occupied::account));
  const Plan plan = plan_of(snapshot);
  int eligible = 0;
  for (const Gate& gate : snapshot.gates)
    if (gate.until > snapshot.now) report.gated_keys.push_back({gate.key, gate.until, 0});
  for (const KeyFigures& lane : snapshot.figures.lanes) {
    report.depth += lane.queued;
    for (GatedKey& gated : report.gated_keys)
      if (lane.key == gated.key) gated.queued += lane.queued;
    const Millis waited = age(snapshot, lane.oldest_queued_at);
    if (is_parked(skip_of(plan, lane.account_id, lane.key))) {
      report.oldest_parked_age = std::max(report.oldest_parked_age, waited);
      continue;
    }
    eligible += lane.queued - not_begun(snapshot, lane);
    report.oldest_eligible_age = std::max(report.oldest_eligible_age, waited);
  }
  report.oldest_queued_age = std::max(report.oldest_eligible_age, report.oldest_parked_age);
  report.state = state_of(report, snapshot, eligible);
  return report;
}

WaitReason why_queued(const Execution& execution, const QueueSnapshot& snapshot, const Plan& plan) {
  if (is_listed(snapshot.figures.outstanding, execution.id)) {  // handed over, not begun yet
    if (executor_is_down(snapshot))
      return {QueuedReason::executor_unavailable, snapshot.drainer.executor_down_until};
    return {QueuedReason::next, std::nullopt};
  }
  if (const LaneSkip* skip = skip_of(plan, execution.account_id, execution.key))
    return {skip->reason, skip->until};
  for (const Lane& lane : snapshot.lanes)
    if (lane.account == execution.account_id && lane.key == execution.key && !lane.rows.empty() &&
        lane.rows.front().execution != execution.id)
      return {QueuedReason::behind, std::nullopt};
  return {QueuedReason::next, std::nullopt};
}

Observatory::Observatory(PlanLimits limits, GatePolicy gate, ObservatoryParts parts)
    : limits_(limits), gate_(gate), parts_(std::move(parts)) {}

Result<QueueSnapshot> Observatory::snapshot() {
  QueueSnapshot taken{.limits = limits_, .gate = gate_, .now = parts_.clock.utc_now()};
  std::optional<Error> failed;
  const auto keep = [&failed](auto& into, auto read) {
    if (read)
      into = *std::move(read);
    else if (!failed)
      failed = read.error();
  };
  keep(taken.figures, parts_.view.figures());
  keep(taken.gates, parts_.gates.closed(taken.now));
  keep(taken.gate_records, parts_.view.gate_records(taken.now));
  taken.drainer = parts_.drainer ? parts_.drainer() : stored_status(taken.figures, taken.now);
  keep(taken.lanes, parts_.view.lanes(1 + static_cast<int>(taken.figures.outstanding.size())));
  keep_heads(taken.lanes, taken.figures.outstanding);
  keep(taken.running, parts_.view.running());
  keep(taken.standing, parts_.view.standing());
  if (failed) return *failed;
  return taken;
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
    report.waits = why_queued(report.execution, *taken, plan_of(*taken));
  }
  return std::optional{std::move(report)};
}

Result<std::vector<ExecutionReport>> Observatory::executions(const ExecutionFilter& filter) {
  auto found = parts_.view.executions(filter);
  if (!found) return found.error();
  std::optional<QueueSnapshot> taken;
  Plan plan;
  std::vector<ExecutionReport> reports;
  for (Execution& execution : *found) {
    std::optional<WaitReason> waits;
    if (execution.status == Status::queued) {
      if (!taken) {
        auto now = snapshot();
        if (!now) return now.error();
        taken = *std::move(now);
        plan = plan_of(*taken);
      }
      waits = why_queued(execution, *taken, plan);
    }
    reports.push_back({std::move(execution), waits});
  }
  return reports;
}

}  // namespace coderunner
