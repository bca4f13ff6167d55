// What the queue looks like, for pages, metrics and commands: depth, ages, why a row waits, and one
// word for the drainer (contract sections 4 and 6). Reads the store only; never changes anything.
// Thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "domain/lane_plan.h"
#include "seams/clock.h"
#include "seams/gate_store.h"
#include "seams/store.h"
#include "services/drainer.h"

namespace coderunner {

enum class DrainerState {  // in the order of contract section 6: the first that holds
  stalled,
  paused,
  executor_unavailable,
  saturated,
  draining,
  gated,
  idle,
};
std::string_view to_text(DrainerState state);

struct GatedKey {
  ApiKeyHash key;
  UtcTime until;
  int queued = 0;
};

struct QueueReport {
  int depth = 0;
  Millis oldest_queued_age{0};  // the larger of the two below
  Millis oldest_eligible_age{0};
  Millis oldest_parked_age{0};
  int in_flight = 0;
  int concurrency = 0;
  DrainerState state = DrainerState::idle;
  std::optional<UtcTime> last_tick;
  std::string executor_error;
  std::vector<GatedKey> gated_keys;
  std::vector<AccountFigures> accounts;
  UtcTime now;
};

struct WaitReason {
  QueuedReason reason = QueuedReason::next;
  std::optional<UtcTime> until;
  friend bool operator==(const WaitReason&, const WaitReason&) = default;
};

struct ExecutionReport {
  Execution execution;
  std::optional<WaitReason> waits;  // of a queued one
};

// What everything above is derived from, read at one moment. What is not picked and why is asked of
// the drainer's own plan.
struct QueueSnapshot {
  QueueFigures figures;
  std::vector<Gate> gates;
  std::vector<GateRecord> gate_records;
  std::vector<Lane> lanes;  // their heads: the oldest row of each whose nonce is not out
  std::vector<RunningRow> running;
  Standing standing;
  DrainerStatus drainer;
  PlanLimits limits;
  GatePolicy gate;
  UtcTime now;
};
Plan plan_of(const QueueSnapshot& snapshot);
QueueReport report_queue(const QueueSnapshot& snapshot);
WaitReason why_queued(const Execution& execution, const QueueSnapshot& snapshot, const Plan& plan);

struct ObservatoryParts {
  QueueView& view;
  GateStore& gates;
  const Clock& clock;
  std::function<DrainerStatus()> drainer;  // empty where another process runs it
};

class Observatory {
 public:
  Observatory(PlanLimits limits, GatePolicy gate, ObservatoryParts parts);

  Result<QueueReport> queue();
  Result<std::optional<ExecutionReport>> execution(ExecutionId id);
  Result<std::vector<ExecutionReport>> executions(const ExecutionFilter& filter);

 private:
  Result<QueueSnapshot> snapshot();

  PlanLimits limits_;
  GatePolicy gate_;
  ObservatoryParts parts_;
};

}  // namespace coderunner
