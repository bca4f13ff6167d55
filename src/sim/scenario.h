// Everything that will happen to a simulated run, as a value: drawn from a seed, executed without
// any further chance, and cut down part by part when it fails. Each part has its own stream, and
// what befalls an execution travels with its arrival, so taking one part out leaves the rest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "domain/lane_plan.h"

namespace coderunner::sim {

// ---- faults at a call of a seam
//
enum class Role { admission, drainer, worker, reaper };
constexpr int kRoles = 4;
enum class CallFaultKind {
  unavailable,       // nothing was done
  unknown_done,      // done, and the answer says that nobody knows
  unknown_not_done,  // not done, and the answer says that nobody knows
  crash_before,
  crash_after,
  pause_before,  // the others go on meanwhile
  pause_after,
};
constexpr int kCallFaultKinds = 7;
struct CallFault {
  Role role = Role::drainer;
  int call = 0;  // the n-th call of that role, counted over all its processes
  CallFaultKind kind = CallFaultKind::unavailable;
  Millis pause{0};
};

// ---- what a dispatch meets on its way
//
enum class RequestFate { arrives, refused, lost, doubled };
enum class AnswerFate {
  arrives,
  lost,       // until the transport's own limit
  reset,      // the connection breaks once the request was read
  truncated,  // a 200 with half a body
  status_502,
  status_503,
  status_504,
  early_200,  // while the row is still queued
  hasty_200,  // "success" while the row still runs
  replayed,   // and comes once more, later
};
constexpr int kRequestFates = 4;
constexpr int kAnswerFates = 10;
struct DispatchFate {
  RequestFate request = RequestFate::arrives;
  AnswerFate answer = AnswerFate::arrives;
  Millis travel{1};
  Millis answer_travel{1};
  Millis second{0};  // how much later the copy comes
};

// ---- what a script does
//
enum class ApiFate { ok, failed_500, done_no_answer, no_answer, rate_limited };
constexpr int kApiFates = 5;
struct ApiStep {
  Millis think{0};  // before it
  bool is_effect = false;
  ApiFate fate = ApiFate::ok;
  Millis takes{100};
  Millis retry_after{0};
};
struct Script {
  std::vector<ApiStep> steps;
  Millis last_think{100};
  bool fails = false;  // ends 301 by itself
};

// ---- submissions
//
enum class SubmissionKind { good, unparsable, bad_field };
struct Arrival {
  int number = 0;  // for good: it names the submission
  Millis at{0};
  int account = 0;
  int key = 0;
  SubmissionKind kind = SubmissionKind::good;
  Millis commit_takes{0};
  std::optional<Millis> again_after;  // the client sends it a second time, whatever it was told
  Script script;
  std::vector<DispatchFate> fates;  // of its first, second ... dispatch; afterwards all is well
};

// ---- what happens to the world
//
enum class HappeningKind {
  clock_step,
  store_outage,
  gate_outage,
  pause_account,
  pause_everybody,
  close_gate,  // by an operator
  plant_queued,
  plant_keyless,  // as an old writer's clearing leaves it: rulings 34
  plant_running,  // without a run id or an executor; at the start, where nothing is in flight yet
  kill_admission,
  kill_drainer,
  kill_reaper,
  kill_serve,  // those three, and the executor's listener with them
  kill_worker,
  kill_executor,
  freeze_drainer,
  freeze_worker,
  freeze_executor,
  freeze_reaper,
};
constexpr int kHappeningKinds = 19;
struct Happening {
  HappeningKind kind = HappeningKind::clock_step;
  Millis at{0};
  Millis lasts{0};  // of a clock step: by how much
  int target = 0;   // account or worker, modulo how many there are
};

struct Settings {
  Order order = Order::fair;
  int concurrency = 4;
  int per_account = 2;
  int max_children = 8;
  Millis poll_interval{1000};
  Millis wall{300'000};
  Millis restart_takes{500};  // of any process that died
  bool has_master = true;     // buries its workers; an FPM pool has none that knows rows
  bool buries = true;         // the master's next worker ends the row of a dead one
  bool gate_in_store = true;  // else in a cache that the mint can not see
  bool wakes = true;          // admission wakes the drainer
  bool can_probe = true;      // else the executor is on another machine
  Millis running_after{900'000};
  Millis queued_after{86'400'000};
};

enum class Profile { calm, mixed, dense };

struct Scenario {
  std::uint64_t seed = 0;
  Profile profile = Profile::mixed;
  Settings settings;
  int accounts = 3;
  Millis faults_until{0};
  std::vector<Arrival> arrivals;
  std::vector<Happening> happenings;
  std::vector<CallFault> call_faults;
};

Scenario draw_scenario(std::uint64_t seed);

std::string_view to_text(Role role);
std::string_view to_text(CallFaultKind kind);
std::string_view to_text(RequestFate fate);
std::string_view to_text(AnswerFate fate);
std::string_view to_text(ApiFate fate);
std::string_view to_text(HappeningKind kind);

// One line for each part that is not as it would be on a good day.
std::string describe(const Scenario& scenario);

}  // namespace coderunner::sim
