// The drainer: one bounded tick that settles answers, reads rows, plans, mints and starts (rulings
// 1-4, 32). Driven by app's loop on one thread; meets admission only in the store and the executor
// only through Transport and the nonce. Keeps no count: in flight is running rows plus its own
// outstanding dispatches, one set by execution id.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "domain/fair_share.h"
#include "domain/lane_plan.h"
#include "seams/clock.h"
#include "seams/entropy.h"
#include "seams/events.h"
#include "seams/gate_store.h"
#include "seams/process_probe.h"
#include "seams/secrets.h"
#include "seams/store.h"
#include "seams/transport.h"

namespace coderunner {

struct DrainerSettings {
  DrainerId me;
  PlanLimits limits;
  GatePolicy gate;  // its minute and max
  Millis poll_interval = limits::kPollInterval;
  Millis doubtful_after = limits::doubtful_after(limits::kWall, limits::kReaperMargin);
};

struct DrainerParts {
  DispatchStore& store;
  GateStore& gates;
  Transport& transport;
  const ProcessProbe& probe;
  const Secrets& secrets;
  Entropy& entropy;
  const Clock& clock;
  Events& events;
};

struct DrainerStatus {
  std::optional<UtcTime> last_tick;  // the last one that reached the store
  std::optional<UtcTime> executor_down_until;
  std::string executor_error;  // while it is down
  int outstanding = 0;         // dispatches not yet settled
};

class Drainer {
 public:
  Drainer(DrainerSettings settings, DrainerParts parts);

  // One step; answers how long until it next wants to run, at most poll_interval. A store that is
  // away makes it answer early and lose nothing: what was not settled is settled by a later tick.
  Millis tick();

  // From now on ticks settle but start nothing.
  void stop_picking() { picking_ = false; }

  DrainerStatus status() const;

 private:
  struct Outstanding {
    AccountId account;
    std::optional<ApiKeyHash> key;
    MonoTime started;
    std::optional<DispatchAnswer> answer;  // here, but its row not yet settled
  };
  struct RowTrouble {
    int count = 0;  // dispatches in a row that came to nothing
    MonoTime at{};  // the latest of them
  };

  Result<Millis> run();
  Result<Done> recover();
  Result<Done> settle();
  bool blames_executor(const DispatchAnswer& answer) const;
  BackOff back_off_after(const DispatchAnswer& answer);
  void began(ExecutionId execution);
  void executor_works();
  std::optional<UtcTime> executor_down_until() const;
  void never_began(const DispatchAnswer& answer, const BackOff& back_off, MonoTime started);
  void watch_probe(const std::vector<RunningRow>& running);
  std::uint8_t chance();
  Result<std::vector<RunningRow>> read_running();
  Result<bool> end_if_proved_dead(const RunningRow& row);
  std::vector<Occupied> in_flight(const std::vector<RunningRow>& running) const;
  Result<Millis> pick(std::vector<Occupied> occupied);
  Result<Done> read_gates(PlanInput& input);
  std::map<ApiKeyHash, UtcTime> closed_gates();
  Result<bool> start_all(const Plan& plan, PlanInput& input);
  Result<MintAnswer> start(const Pick& pick);
  Result<Done> end_without_key(ExecutionId execution);
  void account_slot_time(const std::vector<Occupied>& occupied);
  Result<Done> heartbeat();

  DrainerSettings settings_;
  DrainerParts parts_;
  bool picking_ = true;
  bool recovered_ = false;
  UtcTime now_;
  MonoTime mono_;
  std::map<ExecutionId, Outstanding> outstanding_;
  std::map<ExecutionId, MonoTime> seen_running_;  // since when: never earlier than it began
  std::set<ExecutionId> doubtful_;  // begun, but its dispatch ended without a finished row
  std::map<ExecutionId, RowTrouble> row_failures_;
  std::optional<MonoTime> executor_worked_at_;  // a row has begun, or ended
  int executor_failures_ = 0;
  std::optional<MonoTime> executor_failed_at_;  // the latest of them
  bool probing_ = false;                        // a dispatch is under way that has not begun
  std::optional<MonoTime> executor_down_until_;
  std::string executor_error_;
  std::map<ApiKeyHash, UtcTime>
      gates_;  // as last read: what a gate store that is away leaves us with
  FairShare shares_;
  std::map<AccountId, int> held_;  // slots held since the last tick
  std::optional<MonoTime> held_since_;
  std::optional<MonoTime> last_heartbeat_;
  std::string told_error_;  // of the executor, in that heartbeat
  std::optional<UtcTime> last_tick_;
};

}  // namespace coderunner
