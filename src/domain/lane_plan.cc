#include "domain/lane_plan.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace coderunner {
namespace {

constexpr std::array<std::pair<QueuedReason, std::string_view>, 9> kReasons{{
    {QueuedReason::paused, "paused"},
    {QueuedReason::key_gated, "key_gated"},
    {QueuedReason::key_probing, "key_probing"},
    {QueuedReason::executor_unavailable, "executor_unavailable"},
    {QueuedReason::account_at_cap, "account_at_cap"},
    {QueuedReason::last_slot_reserved, "last_slot_reserved"},
    {QueuedReason::no_free_slot, "no_free_slot"},
    {QueuedReason::behind, "behind"},
    {QueuedReason::next, "next"},
}};

// A back-off that ends later than any lasts was written under another wall clock.
std::optional<UtcTime> backs_off_until(const LaneRow& row, UtcTime now) {
  const bool is_ours = row.not_before && *row.not_before <= now + limits::kDispatchBackOffMax;
  return is_ours ? row.not_before : std::nullopt;
}

LaneSkip skip_of(const Lane& lane, QueuedReason reason, std::optional<UtcTime> until = {}) {
  return {lane.account, lane.key, reason, until};
}

// What parks a whole lane, whatever the caps say.
std::optional<LaneSkip> parked(const Lane& lane, const PlanInput& input) {
  if (input.everybody_paused || input.paused.contains(lane.account))
    return skip_of(lane, QueuedReason::paused);
  const auto gate = lane.key ? input.gates.find(*lane.key) : input.gates.end();
  if (gate != input.gates.end() && gate->second > input.now)
    return skip_of(lane, QueuedReason::key_gated, gate->second);
  return std::nullopt;
}

// When the executor is tried again with this row; nothing: now.
std::optional<UtcTime> tried_again_at(const LaneRow& row, const PlanInput& input) {
  const auto again = std::max(backs_off_until(row, input.now), input.executor_down_until);
  return again && *again > input.now ? again : std::nullopt;
}

int cap_of(const AccountId& account, const PlanInput& input) {
  const auto own = input.per_account.find(account);
  return own == input.per_account.end() ? input.limits.per_account : own->second;
}

// A lane on its way through one plan: the rows not in flight yet, and how many of them are picked.
struct Waiting {
  const Lane* lane;
  std::vector<const LaneRow*> rows;
  std::size_t picked = 0;

  const LaneRow& head() const { return *rows[picked]; }
  bool has_more() const { return picked < rows.size(); }
};

class Planner {
 public:
  Planner(const PlanInput& input, const FairShare& shares) : input_(input), shares_(shares) {
    for (const Occupied& occupied : input.in_flight) {
      take_slot(occupied.account, occupied.key);
      occupied_.insert(occupied.execution);
    }
  }

  Plan run() {
    sort_lanes();
    while (Waiting* best = best_lane()) {
      plan_.picks.push_back({best->lane->account, best->lane->key, best->head()});
      take_slot(best->lane->account, best->lane->key);
      ++best->picked;
    }
    state_reasons();
    return std::move(plan_);
  }

 private:
  void take_slot(const AccountId& account, const std::optional<ApiKeyHash>& key) {
    --free_;
    ++in_flight_[account];
    if (key) ++in_flight_of_key_[*key];
  }

  bool may_pick() const {
    return !input_.most_picks || std::ssize(plan_.picks) < *input_.most_picks;
  }

  void sort_lanes() {
    for (const Lane& lane : input_.lanes) {
      Waiting waiting{&lane, {}, 0};
      for (const LaneRow& row : lane.rows)
        if (!occupied_.contains(row.execution)) waiting.rows.push_back(&row);
      if (!waiting.has_more()) continue;
      if (auto skip = parked(lane, input_))
        plan_.skips.push_back(*std::move(skip));
      else
        eligible_.push_back(std::move(waiting));
    }
  }

  bool is_limited(const Lane& lane) const {
    return input_.limits.reserve_last_slot && lane.key && input_.limited.contains(*lane.key);
  }

  bool at_cap(const AccountId& account) const {
    const auto found = in_flight_.find(account);
    return (found == in_flight_.end() ? 0 : found->second) >= cap_of(account, input_);
  }

  // What keeps a lane that is not parked from a slot now, the first that holds (contract section
  // 4).
  std::optional<LaneSkip> held_back(const Waiting& waiting) const {
    const Lane& lane = *waiting.lane;
    if (lane.key && input_.probing.contains(*lane.key) && in_flight_of_key_.contains(*lane.key))
      return skip_of(lane, QueuedReason::key_probing);
    const auto again = tried_again_at(waiting.head(), input_);
    if (again || !may_pick()) return skip_of(lane, QueuedReason::executor_unavailable, again);
    if (at_cap(lane.account)) return skip_of(lane, QueuedReason::account_at_cap);
    if (is_limited(lane) && free_ == 1 && input_.limits.concurrency > 1)
      return skip_of(lane, QueuedReason::last_slot_reserved);
    if (free_ <= 0) return skip_of(lane, QueuedReason::no_free_slot);
    return std::nullopt;
  }

  auto rank(const Waiting& waiting) const {
    const AccountId& account = waiting.lane->account;
    const auto found = in_flight_.find(account);
    const bool fair = input_.limits.order == Order::fair;
    const FairShare::Span none{0};
    return std::tuple{fair ? shares_.virtual_time(account) : none,
                      fair && found != in_flight_.end() ? found->second : 0,
                      fair ? shares_.slot_time(account) : none, waiting.head().queued_at,
                      waiting.head().execution};
  }

  Waiting* best_lane() {
    Waiting* best = nullptr;
    for (Waiting& waiting : eligible_) {
      if (!waiting.has_more() || held_back(waiting)) continue;
      if (best == nullptr || rank(waiting) < rank(*best)) best = &waiting;
    }
    return best;
  }

  void state_reasons() {
    for (const Waiting& waiting : eligible_)
      if (waiting.has_more()) plan_.skips.push_back(held_back(waiting).value());
    for (const LaneSkip& skip : plan_.skips)
      if (skip.until)
        plan_.next_change = std::min(plan_.next_change.value_or(*skip.until), *skip.until);
  }

  const PlanInput& input_;
  const FairShare& shares_;
  int free_ = input_.limits.concurrency;
  std::map<AccountId, int> in_flight_;
  std::map<ApiKeyHash, int> in_flight_of_key_;
  std::set<ExecutionId> occupied_;
  std::vector<Waiting> eligible_;
  Plan plan_;
};

}  // namespace

std::string_view to_text(QueuedReason reason) {
  for (const auto& [key, word] : kReasons)
    if (key == reason) return word;
  return {};
}

void take_gate_records(PlanInput& input, const std::vector<GateRecord>& records,
                       const GatePolicy& policy) {
  for (const GateRecord& record : records) {
    if (was_limited_lately(record.gate, input.now, policy)) input.limited.insert(record.gate.key);
    if (is_probing(record, input.now, policy)) input.probing.insert(record.gate.key);
  }
}

Plan plan_lanes(const PlanInput& input, const FairShare& shares) {
  return Planner{input, shares}.run();
}

std::set<AccountId> active_accounts(const PlanInput& input) {
  std::set<AccountId> active;
  std::set<ExecutionId> occupied;
  for (const Occupied& one : input.in_flight) {
    active.insert(one.account);
    occupied.insert(one.execution);
  }
  for (const Lane& lane : input.lanes)
    for (const LaneRow& row : lane.rows) {
      if (occupied.contains(row.execution)) continue;
      if (!parked(lane, input) && !tried_again_at(row, input)) active.insert(lane.account);
      break;
    }
  return active;
}

}  // namespace coderunner
