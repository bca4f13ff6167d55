// The scheduling decision as a pure function: lanes + in flight + gates + pauses + virtual time +
// now -> picks, and skips with their reasons. Called by the drainer's tick and by the simulator;
// never does I/O.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "domain/fair_share.h"
#include "domain/limits.h"
#include "domain/rate_gate.h"

namespace coderunner {

enum class Order { fair, fifo };  // rulings 4

enum class QueuedReason {  // in the order of contract section 4: the first that holds is shown
  paused,
  key_gated,
  key_probing,
  executor_unavailable,
  account_at_cap,
  last_slot_reserved,
  no_free_slot,
  behind,
  next,
};
std::string_view to_text(QueuedReason reason);

struct LaneRow {
  ExecutionId execution;
  JobId job;
  UtcTime queued_at;
  std::optional<UtcTime> not_before;  // back-off after a failed dispatch
  friend bool operator==(const LaneRow&, const LaneRow&) = default;
};

// One account and one key: strictly first in, first out. A lane without a key has no gate.
struct Lane {
  AccountId account;
  std::optional<ApiKeyHash> key;
  std::vector<LaneRow> rows;  // its oldest rows, in order; as many as the account's cap is enough
  friend bool operator==(const Lane&, const Lane&) = default;
};

struct Occupied {  // running by its row, or an outstanding dispatch of our own
  ExecutionId execution;
  AccountId account;
  std::optional<ApiKeyHash> key;
  friend bool operator==(const Occupied&, const Occupied&) = default;
};

struct PlanLimits {
  Order order = Order::fair;
  int concurrency = limits::kConcurrency;
  int per_account = limits::kPerAccount;
  bool reserve_last_slot = true;  // rulings 25; a replay without it shows what it is worth
  friend bool operator==(const PlanLimits&, const PlanLimits&) = default;
};

struct PlanInput {
  PlanLimits limits;
  std::vector<Lane> lanes;
  std::vector<Occupied> in_flight;  // one set by execution id
  std::map<ApiKeyHash, UtcTime> gates;
  std::set<ApiKeyHash> probing;  // one run at a time (rulings 11)
  std::set<ApiKeyHash> limited;  // never the last free slot (rulings 25)
  bool everybody_paused = false;
  std::set<AccountId> paused;
  std::map<AccountId, int> per_account;        // caps of their own
  std::optional<int> most_picks;               // an executor in trouble is tried with one
  std::optional<UtcTime> executor_down_until;  // nothing is handed over before
  UtcTime now;
};

struct Pick {
  AccountId account;
  std::optional<ApiKeyHash> key;
  LaneRow row;
  friend bool operator==(const Pick&, const Pick&) = default;
};

struct LaneSkip {
  AccountId account;
  std::optional<ApiKeyHash> key;
  QueuedReason reason = QueuedReason::next;
  std::optional<UtcTime> until;  // where the reason ends by itself
  friend bool operator==(const LaneSkip&, const LaneSkip&) = default;
};

struct Plan {
  std::vector<Pick> picks;
  std::vector<LaneSkip> skips;
  std::optional<UtcTime> next_change;  // the earliest `until` among the skips
};

// Which keys are limited and which are probing, of the gates' records (rulings 11, 25).
void take_gate_records(PlanInput& input, const std::vector<GateRecord>& records,
                       const GatePolicy& policy);

Plan plan_lanes(const PlanInput& input, const FairShare& shares);

// The accounts that compete now: a row that could start but for the caps, or a run (rulings 4).
std::set<AccountId> active_accounts(const PlanInput& input);

}  // namespace coderunner
