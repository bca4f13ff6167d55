#include "tests/property/tick_model.h"

#include <algorithm>

namespace coderunner {

TickModel::TickModel(const PlanLimits& limits) { input_.limits = limits; }

void TickModel::flood(const AccountId& account, Millis service) { floods_[account] = service; }

void TickModel::park(const AccountId& account, bool for_good) {
  if (for_good)
    input_.paused.insert(account);
  else
    input_.paused.erase(account);
}

void TickModel::arrive(Millis at, const AccountId& account, Millis service) {
  arrivals_.insert({at, {account, service}});
}

void TickModel::run_until(Millis end) {
  tick();
  while (now_ < end) {
    pass_to(next_event(end));
    tick();
  }
}

Millis TickModel::slot_time(const AccountId& account) {
  Millis held = held_[account];
  for (const Run& run : running_)
    if (run.of.account == account) held += now_ - run.began;
  return held;
}

void TickModel::add(const AccountId& account, Millis service, UtcTime queued_at) {
  const std::int64_t id = ++last_id_;
  waiting_[account].push_back({{{id}, {id}, queued_at, {}}, service});
}

// What floods has always been there, and there is always more of it than an account may run.
void TickModel::refill() {
  for (const auto& [account, service] : floods_)
    while (std::ssize(waiting_[account]) < input_.limits.concurrency)
      add(account, service, UtcTime{});
}

void TickModel::tick() {
  refill();
  input_.now = UtcTime{} + now_;
  input_.lanes.clear();
  for (const auto& [account, queue] : waiting_) {
    Lane lane{account, ApiKeyHash{account.value}, {}};
    for (const Waiting& one : queue) lane.rows.push_back(one.row);
    if (!lane.rows.empty()) input_.lanes.push_back(std::move(lane));
  }
  input_.in_flight.clear();
  for (const Run& run : running_) input_.in_flight.push_back(run.of);
  shares_.set_active(active_accounts(input_));
  for (const Pick& pick : plan_lanes(input_, shares_).picks) {
    const Waiting started = waiting_[pick.account].front();
    waiting_[pick.account].pop_front();
    waits_[pick.account].push_back(input_.now - started.row.queued_at);
    running_.push_back(
        {{pick.row.execution, pick.account, pick.key}, now_, now_ + started.service});
  }
}

Millis TickModel::next_event(Millis end) const {
  if (!arrivals_.empty()) end = std::min(end, arrivals_.begin()->first);
  for (const Run& run : running_) end = std::min(end, run.ends);
  return end;
}

void TickModel::pass_to(Millis time) {
  std::map<AccountId, int> slots;
  for (const Run& run : running_) ++slots[run.of.account];
  shares_.hold(time - now_, slots);
  now_ = time;
  std::erase_if(running_, [this](const Run& run) {
    if (run.ends > now_) return false;
    held_[run.of.account] += run.ends - run.began;
    return true;
  });
  while (!arrivals_.empty() && arrivals_.begin()->first <= now_) {
    const auto [account, service] = arrivals_.begin()->second;
    arrivals_.erase(arrivals_.begin());
    add(account, service, UtcTime{} + now_);
  }
}

}  // namespace coderunner
