// Not drawn but counted out: one small scenario, once for every call of a seam that anybody makes
// in it and every fault at that call, and once for every moment at which a process may die.
#include <gtest/gtest.h>

#include "sim/simulation.h"

namespace coderunner::sim {
namespace {

using namespace std::chrono_literals;

// Two accounts, two rows of one lane, scripts that change something; over in a few seconds.
Scenario small() {
  Scenario scenario;
  scenario.accounts = 2;
  scenario.settings.concurrency = 2;
  scenario.settings.per_account = 1;
  scenario.settings.wall = 20s;
  scenario.faults_until = 12s;
  for (int number = 1; number <= 3; ++number) {
    Arrival arrival{.number = number, .at = 100ms * number};
    arrival.account = arrival.key = number == 2 ? 1 : 0;
    arrival.script.steps = {{.think = 200ms, .is_effect = true, .takes = 300ms},
                            {.think = 200ms, .is_effect = false, .takes = 100ms},
                            {.think = 100ms, .is_effect = true, .takes = 200ms}};
    scenario.arrivals.push_back(arrival);
  }
  scenario.arrivals.back().script.steps[1].fate = ApiFate::rate_limited;
  scenario.arrivals.back().script.steps[1].retry_after = 2s;
  scenario.happenings = {{HappeningKind::plant_keyless, 300ms, 0ms, 1}};
  return scenario;
}

std::string failure_of(const Scenario& scenario) {
  const auto violation = simulate(scenario).violation;
  if (!violation) return {};
  return violation->invariant + ": " + violation->what + "\n" + describe(scenario);
}

class CrashPoints : public ::testing::TestWithParam<bool> {
 protected:
  Scenario scenario() const {
    Scenario made = small();
    made.settings.has_master = made.settings.buries = GetParam();
    return made;
  }
};

INSTANTIATE_TEST_SUITE_P(Executors, CrashPoints, ::testing::Bool(), [](const auto& tried) {
  return tried.param ? "WithAMasterThatBuries" : "LikeAnFpmPool";
});

TEST_P(CrashPoints, EveryFaultAtEveryCallOfEveryoneKeepsTheInvariants) {
  const SimulationResult plain = simulate(scenario());
  ASSERT_FALSE(plain.violation) << plain.violation->what;
  int points = 0;
  for (int role = 0; role < kRoles; ++role)
    for (int call = 1; call <= plain.calls[static_cast<std::size_t>(role)]; ++call)
      for (int kind = 0; kind < kCallFaultKinds; ++kind)
        for (const Millis pause : {1500ms, 40'000ms}) {
          const auto fault = static_cast<CallFaultKind>(kind);
          const bool pauses =
              fault == CallFaultKind::pause_before || fault == CallFaultKind::pause_after;
          if (!pauses && pause > 2s) continue;
          Scenario at = scenario();
          at.call_faults = {{static_cast<Role>(role), call, fault, pause}};
          ++points;
          ASSERT_EQ(failure_of(at), "");
        }
  std::printf("%d points\n", points);
  EXPECT_GT(points, 300);
}

// What the first crash leaves is the next one's to trip over.
TEST_P(CrashPoints, EveryPairOfCrashesAndLostAnswersKeepsTheInvariants) {
  constexpr int kCalls = 24;
  constexpr std::array kFaults{CallFaultKind::crash_before, CallFaultKind::crash_after,
                               CallFaultKind::unknown_done};
  int pairs = 0;
  for (const Role one : {Role::drainer, Role::worker})
    for (int first = 1; first <= kCalls; ++first)
      for (int second = first + 1; second <= kCalls; ++second)
        for (const CallFaultKind a : kFaults)
          for (const CallFaultKind b : kFaults) {
            Scenario at = scenario();
            at.call_faults = {{one, first, a, 0ms}, {one, second, b, 0ms}};
            ++pairs;
            ASSERT_EQ(failure_of(at), "");
          }
  std::printf("%d pairs\n", pairs);
}

TEST_P(CrashPoints, EveryProcessMayDieOrStandStillAtEveryMoment) {
  int moments = 0;
  for (const HappeningKind kind :
       {HappeningKind::kill_worker, HappeningKind::kill_executor, HappeningKind::kill_drainer,
        HappeningKind::kill_admission, HappeningKind::kill_reaper, HappeningKind::kill_serve,
        HappeningKind::freeze_worker, HappeningKind::freeze_executor,
        HappeningKind::freeze_drainer})
    for (Millis at{0}; at < 12s; at += 25ms) {
      Scenario scenario = this->scenario();
      scenario.happenings.push_back({kind, at, 45s, 0});
      ++moments;
      ASSERT_EQ(failure_of(scenario), "");
    }
  std::printf("%d moments\n", moments);
}

}  // namespace
}  // namespace coderunner::sim
