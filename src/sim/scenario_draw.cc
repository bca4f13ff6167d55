#include <algorithm>
#include <array>

#include "sim/chance.h"
#include "sim/scenario.h"

namespace coderunner::sim {
namespace {

using namespace std::chrono_literals;

// Each draw of a part comes from a stream of its own.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : scenario_{.seed = seed} {}

  Scenario run() {
    Chance chance{scenario_.seed, "profile"};
    const int kind = chance.between(1, 10);
    scenario_.profile = kind <= 1 ? Profile::calm : (kind <= 6 ? Profile::mixed : Profile::dense);
    settings();
    habits();
    switch (scenario_.profile) {
      case Profile::calm: calm(); break;
      case Profile::mixed: mixed(); break;
      case Profile::dense: dense(); break;
    }
    return std::move(scenario_);
  }

 private:
  void settings() {
    Chance chance{scenario_.seed, "settings"};
    Settings& is = scenario_.settings;
    constexpr std::array<Millis, 4> kWalls{20s, 20s, 60s, 300s};
    is.order = chance.percent(85) ? Order::fair : Order::fifo;
    is.concurrency = chance.between(1, 5);
    is.per_account = chance.between(1, 3);
    is.max_children = chance.percent(80) ? 8 : chance.between(1, 4);
    is.poll_interval = chance.percent(50) ? 1000ms : 2000ms;
    is.wall = kWalls[static_cast<std::size_t>(chance.between(0, 3))];
    is.restart_takes = chance.between(50ms, 3000ms);
    is.has_master = chance.percent(70);
    is.buries = is.has_master && chance.percent(70);
    is.gate_in_store = chance.percent(60);
    is.wakes = chance.percent(70);
    is.can_probe = chance.percent(85);
    is.running_after =
        limits::doubtful_after(is.wall, limits::kReaperMargin) + chance.between(5'000ms, 600'000ms);
    if (chance.percent(50)) is.queued_after = chance.between(30s, 600s);
  }

  // No fault at all, so that waits can be judged: some accounts flood, one is quiet.
  void calm() {
    Chance chance{scenario_.seed, "calm"};
    Settings& is = scenario_.settings;
    is.order = Order::fair;
    is.concurrency = chance.between(2, 4);
    is.per_account = std::min(is.per_account, is.concurrency);
    is.max_children = 8;
    is.wakes = true;
    const int floods = chance.between(1, 6);
    scenario_.accounts = floods + 1;
    // In half of them the quiet one has used slots before, and then all was idle.
    const Millis idle_until = chance.percent(50) ? 60s : 0s;
    if (idle_until > 0s)
      for (int i = chance.between(1, 6); i > 0; --i) calm_arrival(0, 0ms, chance.between(2s, 8s));
    for (int account = 1; account <= floods; ++account)
      for (int i = chance.between(4, 12); i > 0; --i)
        calm_arrival(account, idle_until + chance.between(0ms, 8s), chance.between(2s, 8s));
    Millis at = idle_until + chance.between(0ms, 9s);
    for (int i = 0; i < 3; ++i) {
      calm_arrival(0, at, chance.between(100ms, 2s));
      at += chance.between(20s, 30s);
    }
    scenario_.faults_until = at;
  }

  void calm_arrival(int account, Millis at, Millis runs_for) {
    Arrival arrival{.number = static_cast<int>(scenario_.arrivals.size()) + 1, .at = at};
    arrival.account = arrival.key = account;
    arrival.script.last_think = runs_for;
    scenario_.arrivals.push_back(std::move(arrival));
  }

  // Each seed has habits of its own: some kinds of trouble it meets often, some never. What only
  // goes wrong together is then met together.
  void habits() {
    Chance chance{scenario_.seed, "habits"};
    const auto pick = [&chance](int kinds, int first) {
      std::vector<int> picked;
      for (int kind = first; kind < kinds; ++kind)
        if (chance.percent(35)) picked.push_back(kind);
      if (picked.empty()) picked.push_back(chance.between(first, kinds - 1));
      return picked;
    };
    happening_kinds_ = pick(kHappeningKinds, 0);
    call_fault_kinds_ = pick(kCallFaultKinds, 0);
    request_fates_ = pick(kRequestFates, 1);
    answer_fates_ = pick(kAnswerFates, 1);
    doubtful_dispatches_ = chance.between(10, 90);
    slow_roads_ = chance.between(0, 80);
    long_pauses_ = chance.between(0, 50);
  }

  template <class Kind>
  static Kind one_of(const std::vector<int>& kinds, Chance& chance) {
    return static_cast<Kind>(
        kinds[static_cast<std::size_t>(chance.between(0, static_cast<int>(kinds.size()) - 1))]);
  }

  void mixed() {
    Chance chance{scenario_.seed, "mixed"};
    const Millis span = scenario_.settings.wall * chance.between(2, 6);
    scenario_.faults_until = span;
    scenario_.accounts = chance.between(1, 5);
    for (int i = chance.between(3, 40); i > 0; --i) arrive(span);
    for (int i = chance.between(1, 25); i > 0; --i) happen(span);
    for (int i = chance.between(0, 25); i > 0; --i) fault_a_call(700);
  }

  // A handful of executions and a fault at every other step.
  void dense() {
    Chance chance{scenario_.seed, "dense"};
    const Millis span = chance.between(5'000ms, 30'000ms);
    scenario_.faults_until = span;
    scenario_.accounts = chance.between(1, 2);
    for (int i = chance.between(1, 5); i > 0; --i) arrive(span / 2);
    for (int i = chance.between(0, 5); i > 0; --i) happen(span);
    for (int i = chance.between(2, 14); i > 0; --i) fault_a_call(60);
  }

  void arrive(Millis span) {
    const int number = static_cast<int>(scenario_.arrivals.size()) + 1;
    Chance chance{scenario_.seed, "arrival", static_cast<std::uint64_t>(number)};
    Arrival arrival{.number = number, .at = chance.between(0ms, span)};
    if (chance.percent(30)) arrival.at = span / 4;  // at the same moment as others
    arrival.account = chance.between(0, scenario_.accounts - 1);
    arrival.key = arrival.account * 2 + chance.between(0, 1);
    const int kind = chance.between(1, 20);
    if (kind == 1) arrival.kind = SubmissionKind::unparsable;
    if (kind == 2) arrival.kind = SubmissionKind::bad_field;
    if (chance.percent(50)) arrival.commit_takes = chance.between(1ms, 50ms);
    if (chance.percent(10)) arrival.again_after = chance.between(0ms, 2000ms);
    arrival.script = script(chance);
    for (int i = chance.percent(doubtful_dispatches_) ? chance.between(1, 3) : 0; i > 0; --i)
      arrival.fates.push_back(fate(chance));
    scenario_.arrivals.push_back(std::move(arrival));
  }

  Script script(Chance& chance) const {
    Script script;
    for (int i = chance.between(0, 4); i > 0; --i) {
      ApiStep step{.think = chance.between(0ms, 1500ms),
                   .is_effect = chance.percent(60),
                   .takes = chance.between(20ms, 2000ms)};
      if (chance.percent(25)) step.fate = static_cast<ApiFate>(chance.between(1, kApiFates - 1));
      step.retry_after = chance.percent(85) ? chance.between(1s, 40s) : chance.between(100s, 600s);
      script.steps.push_back(step);
    }
    script.last_think = chance.percent(90) ? chance.between(0ms, 3000ms)
                                           : scenario_.settings.wall * chance.between(1, 2);
    script.fails = chance.percent(15);
    return script;
  }

  DispatchFate fate(Chance& chance) const {
    DispatchFate fate;
    if (chance.percent(40)) fate.request = one_of<RequestFate>(request_fates_, chance);
    if (chance.percent(60)) fate.answer = one_of<AnswerFate>(answer_fates_, chance);
    const Millis long_travel = scenario_.settings.wall + 60s;
    const auto road = [&] {
      return chance.percent(slow_roads_) ? chance.between(1s, long_travel)
                                         : chance.between(1ms, 300ms);
    };
    fate.travel = road();
    fate.answer_travel = road();
    fate.second = road();
    return fate;
  }

  void happen(Millis span) {
    const auto number = static_cast<std::uint64_t>(scenario_.happenings.size());
    Chance chance{scenario_.seed, "happening", number};
    Happening one{.kind = one_of<HappeningKind>(happening_kinds_, chance),
                  .at = chance.between(0ms, span),
                  .lasts = chance.between(500ms, 45'000ms),
                  .target = chance.between(0, 7)};
    if (one.kind == HappeningKind::clock_step) one.lasts = clock_step(chance);
    const bool freezes =
        one.kind == HappeningKind::freeze_drainer || one.kind == HappeningKind::freeze_worker ||
        one.kind == HappeningKind::freeze_executor || one.kind == HappeningKind::freeze_reaper;
    if (freezes && chance.percent(long_pauses_))
      one.lasts = scenario_.settings.wall * 2 + chance.between(10s, 60s);
    scenario_.happenings.push_back(one);
  }

  static Millis clock_step(Chance& chance) {
    constexpr std::array<Millis, 4> kSizes{5s, 90s, 3h, 24h * 366};
    const Millis size = kSizes[static_cast<std::size_t>(chance.between(0, 3))];
    const Millis step = chance.between(size / 2, size);
    return chance.percent(50) ? step : -step;
  }

  void fault_a_call(int calls) {
    const auto number = static_cast<std::uint64_t>(scenario_.call_faults.size());
    Chance chance{scenario_.seed, "call", number};
    constexpr std::array<Role, 8> kOften{Role::admission, Role::drainer, Role::drainer,
                                         Role::drainer,   Role::worker,  Role::worker,
                                         Role::worker,    Role::reaper};
    CallFault fault{.role = kOften[static_cast<std::size_t>(chance.between(0, 7))],
                    .kind = one_of<CallFaultKind>(call_fault_kinds_, chance)};
    // Few calls are made by a worker or the door, thousands by a drainer.
    fault.call = chance.between(1, fault.role == Role::drainer ? calls : std::min(calls, 40));
    fault.pause = chance.percent(long_pauses_) ? scenario_.settings.wall + chance.between(5s, 60s)
                                               : chance.between(1ms, 3000ms);
    scenario_.call_faults.push_back(fault);
  }

  Scenario scenario_;
  std::vector<int> happening_kinds_;
  std::vector<int> call_fault_kinds_;
  std::vector<int> request_fates_;
  std::vector<int> answer_fates_;
  int doubtful_dispatches_ = 0;  // percent, as those below
  int slow_roads_ = 0;
  int long_pauses_ = 0;
};

}  // namespace

Scenario draw_scenario(std::uint64_t seed) { return Draw{seed}.run(); }

}  // namespace coderunner::sim
