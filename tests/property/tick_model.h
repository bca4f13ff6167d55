// A queue in miniature on virtual time: the plan and the shares of the product, slots that are held
// for as long as each account's scripts take, floods that never end, accounts that are paused.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "domain/fair_share.h"
#include "domain/lane_plan.h"

namespace coderunner {

class TickModel {
 public:
  explicit TickModel(const PlanLimits& limits);

  void flood(const AccountId& account, Millis service);  // from the start, and without an end
  void park(const AccountId& account, bool for_good = true);
  void arrive(Millis at, const AccountId& account, Millis service);
  void run_until(Millis end);

  const std::vector<Millis>& waits(const AccountId& account) { return waits_[account]; }
  Millis slot_time(const AccountId& account);  // held so far, by runs under way too

 private:
  struct Waiting {
    LaneRow row;
    Millis service;
  };
  struct Run {
    Occupied of;
    Millis began;
    Millis ends;
  };
  void add(const AccountId& account, Millis service, UtcTime queued_at);
  void refill();
  void tick();
  Millis next_event(Millis end) const;
  void pass_to(Millis time);

  PlanInput input_;
  FairShare shares_;
  std::map<AccountId, Millis> floods_;
  std::multimap<Millis, std::pair<AccountId, Millis>> arrivals_;
  std::map<AccountId, std::deque<Waiting>> waiting_;
  std::vector<Run> running_;
  std::map<AccountId, std::vector<Millis>> waits_;
  std::map<AccountId, Millis> held_;
  Millis now_{0};
  std::int64_t last_id_ = 0;
};

}  // namespace coderunner
