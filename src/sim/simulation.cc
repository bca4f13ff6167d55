#include "sim/simulation.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "sim/judge.h"
#include "sim/virtual_roles.h"

namespace coderunner::sim {
namespace {

using namespace std::chrono_literals;

// Once the faults have ended: the longest gate, plus every row one after the other at its wall.
constexpr Millis kDrainsWithin = limits::kGateMax + 4h;

std::string account_name(const Scenario& scenario, int target) {
  return fmt::format("a{}", target % std::max(scenario.accounts, 1));
}

template <class Face>
Face& face_or(const std::unique_ptr<Face>& defect, MemoryStore& truth) {
  return defect ? *defect : truth;
}

template <class Face>
std::unique_ptr<Face> make(const std::function<std::unique_ptr<Face>(MemoryStore&)>& defect,
                           MemoryStore& truth) {
  return defect ? defect(truth) : nullptr;
}

class Simulation {
 public:
  Simulation(const Scenario& scenario, const SimulationOptions& options)
      : scenario_(scenario),
        world_(scenario, options.keeps_trace),
        judge_(world_, truth_, gates(), scenario.settings.gate_in_store),
        ledger_(make(options.defects.ledger, truth_)),
        dispatch_(make(options.defects.dispatch, truth_)),
        admission_store_(make(options.defects.admission, truth_)),
        shared_{.world = world_,
                .judge = judge_,
                .admission = face_or(admission_store_, truth_),
                .dispatch = face_or(dispatch_, truth_),
                .ledger = face_or(ledger_, truth_),
                .reaper = truth_,
                .gates = gates(),
                .gates_in_store = scenario.settings.gate_in_store},
        executor_(shared_),
        drainer_(shared_, executor_),
        reaper_(shared_, executor_),
        admission_(shared_, [this] {
          if (scenario_.settings.wakes) drainer_.wake();
        }) {
    for (const CallFault& fault : scenario.call_faults)
      shared_.faults[static_cast<std::size_t>(fault.role)][fault.call] = fault;
  }

  SimulationResult run() {
    for (const Happening& one : scenario_.happenings)
      if (is_before_all(one)) happen(one);
    admission_.start();
    drainer_.start();
    reaper_.start();
    for (const Arrival& arrival : scenario_.arrivals) submit(arrival);
    for (const Happening& one : scenario_.happenings)
      if (!is_before_all(one)) world_.after(one.at, [this, &one] { happen(one); });
    const Millis faults_last = scenario_.faults_until + 1s;
    world_.after(faults_last, [this] { heal(); });
    world_.run_until(VirtualClock::kStart + faults_last + kDrainsWithin,
                     [this] { return shared_.has_healed && judge_.has_drained(); });
    if (!world_.is_over()) judge_.check_end();
    return {world_.violation(), world_.take_trace(), world_.counts(), shared_.calls,
            world_.since_start()};
  }

 private:
  void submit(const Arrival& arrival) {
    const std::string name = fmt::format("s{}", arrival.number);
    world_.after(arrival.at, [this, &arrival, name] { admission_.submit(arrival, name); });
    if (!arrival.again_after) return;
    world_.after(arrival.at + *arrival.again_after, [this, &arrival, name] {
      world_.count("sent again");
      admission_.submit(arrival, name + "-again");
    });
  }

  // What an old writer had left running when this queue came; later it would run over our caps.
  static bool is_before_all(const Happening& one) {
    return one.kind == HappeningKind::plant_running;
  }

  GateStore& gates() { return scenario_.settings.gate_in_store ? truth_ : cache_; }

  void heal() {
    world_.trace("the faults have ended");
    shared_.has_healed = true;
    shared_.store_away_until = shared_.gates_away_until = MonoTime{};
    world_.thaw_all();
    set_clock_right();
    resume(AccountId{});
    for (int account = 0; account < scenario_.accounts; ++account)
      resume(secrets_.account_id(account_name(scenario_, account)));
  }

  void set_clock_right() {
    for (const Happening& one : scenario_.happenings)
      if (one.kind == HappeningKind::clock_step) world_.clock.step_utc(-one.lasts);
    count_gates_of_wrong_clocks();
  }

  // Nobody clears them: they hold up nothing once the clock is right.
  void count_gates_of_wrong_clocks() {
    const UtcTime now = world_.clock.utc_now();
    MemoryStore& store = scenario_.settings.gate_in_store ? truth_ : cache_;
    const auto records = store.gate_records(now);
    for (const GateRecord& record : *records)
      if (record.gate.until > latest_gate(now, {})) world_.count("gate of a wrong clock met");
  }

  void resume(const AccountId& account) {
    truth_.resume(account);
    judge_.paused(account, false);
  }

  void pause(const AccountId& account, Millis lasts) {
    if (account == AccountId{})
      truth_.pause_everybody();
    else
      truth_.pause_account(account);
    judge_.paused(account, true);
    world_.after(lasts, [this, account] { resume(account); });
  }

  void happen(const Happening& one) {
    world_.count(to_text(one.kind));
    world_.trace("{} for {}ms", to_text(one.kind), one.lasts.count());
    const AccountId account = secrets_.account_id(account_name(scenario_, one.target));
    const MonoTime until = world_.now() + one.lasts;
    switch (one.kind) {
      case HappeningKind::clock_step: world_.clock.step_utc(one.lasts); break;
      case HappeningKind::store_outage:
        shared_.store_away_until = std::max(shared_.store_away_until, until);
        break;
      case HappeningKind::gate_outage:
        shared_.gates_away_until = std::max(shared_.gates_away_until, until);
        break;
      case HappeningKind::pause_account: pause(account, one.lasts); break;
      case HappeningKind::pause_everybody: pause(AccountId{}, one.lasts); break;
      case HappeningKind::close_gate: close_gate(one); break;
      case HappeningKind::plant_queued:
      case HappeningKind::plant_keyless:
      case HappeningKind::plant_running: plant(one); break;
      default: strike(one); break;
    }
  }

  // At the processes.
  void strike(const Happening& one) {
    switch (one.kind) {
      case HappeningKind::kill_admission: world_.kill(*admission_.process()); break;
      case HappeningKind::kill_drainer: world_.kill(*drainer_.process()); break;
      case HappeningKind::kill_reaper: world_.kill(*reaper_.process()); break;
      case HappeningKind::kill_serve:
        world_.kill(*admission_.process());
        world_.kill(*drainer_.process());
        world_.kill(*reaper_.process());
        executor_.let_go();
        break;
      case HappeningKind::kill_worker: executor_.kill_worker(one.target); break;
      case HappeningKind::kill_executor: executor_.kill_all(); break;
      case HappeningKind::freeze_drainer: world_.freeze(drainer_.process(), one.lasts); break;
      case HappeningKind::freeze_reaper: world_.freeze(reaper_.process(), one.lasts); break;
      case HappeningKind::freeze_worker: executor_.freeze_worker(one.target, one.lasts); break;
      case HappeningKind::freeze_executor: executor_.freeze_all(one.lasts); break;
      default: break;
    }
  }

  void close_gate(const Happening& one) {
    const UtcTime now = world_.clock.utc_now();
    const int key = one.target % std::max(scenario_.accounts * 2, 1);
    const Gate gate{.key = {fmt::format("key:k{}", key)},
                    .until = now + one.lasts,
                    .first_seen = now,
                    .last_seen = now,
                    .hint = {},
                    .status = 0};
    ensure(gates().close(gate, now).has_value(), "the true gate store does not fail");
  }

  // By an old writer: no key at all, or one whose sealed text is gone, or a run that names nobody.
  void plant(const Happening& one) {
    MemoryStore::Planted row{.account = account_name(scenario_, one.target)};
    row.account_id = secrets_.account_id(row.account);
    const bool is_keyless = one.kind == HappeningKind::plant_keyless;
    if (is_keyless) row.key = ApiKeyHash{"key:gone"};
    row.queued_at = world_.clock.utc_now();
    if (one.kind == HappeningKind::plant_running) {
      row.status = "running";
      row.started_at = row.queued_at;
    }
    const Admitted planted = truth_.plant(row);
    judge_.wrote({old_writer_, kPlanted});
    judge_.planted(planted.execution, !is_keyless);
  }

  const Scenario& scenario_;
  MemoryStore truth_;
  MemoryStore cache_;  // of gates, where they are not in the store
  ReadableSecrets secrets_;
  World world_;
  Judge judge_;
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<DispatchStore> dispatch_;
  std::unique_ptr<AdmissionStore> admission_store_;
  ProcessRef old_writer_ = std::make_shared<Process>(Process{Role::admission, "an old writer"});
  Shared shared_;
  VirtualExecutor executor_;
  DrainerRole drainer_;
  ReaperRole reaper_;
  AdmissionRole admission_;
};

}  // namespace

SimulationResult simulate(const Scenario& scenario, const SimulationOptions& options) {
  return Simulation{scenario, options}.run();
}

}  // namespace coderunner::sim
