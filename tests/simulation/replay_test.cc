// The brief's own days, replayed: what the old pool did to them, and what the queue does.
#include "sim/replay.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace coderunner::sim {
namespace {

using namespace std::chrono_literals;

std::vector<TraceArrival> trace_of(const std::string& name) {
  const std::ifstream file{std::string{CODERUNNER_TRACES} + "/" + name + ".csv"};
  std::stringstream text;
  text << file.rdbuf();
  auto trace = read_trace(text.str());
  EXPECT_TRUE(trace) << name << ": " << trace.error().message;
  return trace.value_or({});
}

ReplayOptions incident_options() { return {.quota = {.per_minute = 70, .per_hour = 0}}; }

void expect_all_succeeded(const ReplayReport& report) {
  EXPECT_EQ(report.all.succeeded, report.all.arrivals);
  EXPECT_EQ(report.all.killed_at_wall, 0);
  EXPECT_EQ(report.all.failed, 0);
  EXPECT_EQ(report.all.rejected, 0);
  EXPECT_LE(report.all.max_in_flight, 4);
  EXPECT_LE(report.max_in_flight_per_account, 2);
}

TEST(TheIncident, KillsHalfOfItsExecutionsInTheOldPool) {
  ReplayOptions old_world = incident_options();
  old_world.policy = Policy::none;
  const ReplayReport report = replay(trace_of("incident-2026-08-24-1208"), old_world);
  EXPECT_EQ(report.all.arrivals, 309);
  EXPECT_NEAR(report.all.killed_at_wall, 143, 143 * 0.05);  // brief 1
  const double held = static_cast<double>(report.all.killed_worker_time.count()) /
                      static_cast<double>(report.all.last_kill_at.count());
  EXPECT_NEAR(held, 24, 24 * 0.10) << "of 40 workers, by executions that were never to succeed";
  EXPECT_EQ(report.all.max_in_flight, 40);
}

TEST(TheIncident, KillsAndFailsNobodyWithTheQueue) {
  const ReplayReport report = replay(trace_of("incident-2026-08-24-1208"), incident_options());
  expect_all_succeeded(report);
  for (const auto& [account, figures] : report.accounts) {
    if (account == "acct-3ec13b") continue;  // the one that is limited
    EXPECT_LE(percentile(figures.waits, 100), 1600ms) << account << ": one service time, brief 6";
  }
}

struct Flood {
  const char* trace;
  Millis fifo_at_least;  // the light accounts' worst p95
  Millis fair_at_most;   // and their worst wait
};
void PrintTo(const Flood& flood, std::ostream* out) { *out << flood.trace; }

class Flooded : public testing::TestWithParam<Flood> {
 protected:
  static ReplayReport replayed(Order order) {
    ReplayOptions options;
    options.plan.order = order;
    return replay(trace_of(GetParam().trace), options);
  }
  static Millis worst_of_the_light(const ReplayReport& report, int percent) {
    Millis worst{0};
    for (const auto& [account, figures] : report.accounts)
      if (account.starts_with("acct-light"))
        worst = std::max(worst, percentile(figures.waits, percent));
    return worst;
  }
};

TEST_P(Flooded, AccountsKeepTheLightOnesWaitingInFifoOrderOnly) {
  const ReplayReport fair = replayed(Order::fair), fifo = replayed(Order::fifo);
  expect_all_succeeded(fair);
  expect_all_succeeded(fifo);
  EXPECT_LE(worst_of_the_light(fair, 100), GetParam().fair_at_most);
  EXPECT_GE(worst_of_the_light(fifo, 95), GetParam().fifo_at_least);
}

// Rulings 4: with one flood the account cap is enough, with two or more only fairness is.
INSTANTIATE_TEST_SUITE_P(By, Flooded,
                         testing::Values(Flood{"one-flooder", 0ms, 1600ms},
                                         Flood{"two-flooders", 150s, 1600ms},
                                         Flood{"five-flooders", 150s, 1600ms}),
                         [](const auto& flood) {
                           std::string name = flood.param.trace;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(AFortnight, FiresNoDepthCap) {
  const ReplayReport report = replay(trace_of("fourteen-days"), incident_options());
  EXPECT_EQ(report.all.arrivals, 5856);
  expect_all_succeeded(report);
  EXPECT_LT(report.all.max_queued, limits::kMaxQueuedPerAccount);
}

TEST(AReplay, IsTheSameEachTime) {
  const auto trace = trace_of("incident-2026-08-24-1208");
  for (const Policy policy : {Policy::none, Policy::queue}) {
    ReplayOptions options = incident_options();
    options.policy = policy;
    EXPECT_EQ(replay(trace, options), replay(trace, options));
  }
}

// Rulings 7: the attempt cap alone is no cure.
TEST(AReplay, OfAKeyUnderAnHourlyLimitParksItsWorkAndDelaysNobodyElse) {
  std::vector<TraceArrival> trace;
  for (int i = 0; i < 100; ++i) {
    trace.push_back({Millis{i * 1000}, "limited", "limited", 5, 100ms, 10ms});
    trace.push_back({Millis{i * 1000}, "other", "other", 5, 100ms, 10ms});
  }
  ReplayOptions options;
  options.quota.per_hour = 200;
  const auto other_has_its_own = [](TraceArrival& arrival) { arrival.api_calls = 1; };
  for (TraceArrival& arrival : trace)
    if (arrival.account == "other") other_has_its_own(arrival);
  const ReplayReport report = replay(trace, options);
  const ReplayFigures& limited = report.accounts.at("limited");
  EXPECT_LE(limited.failed, 4) << "at most those that met the limit in mid-script, two an hour";
  EXPECT_EQ(limited.succeeded + limited.failed, 100);
  EXPECT_GT(percentile(limited.waits, 95), 50min);
  EXPECT_LE(percentile(report.accounts.at("other").waits, 100), 600ms);
}

TEST(ADepthCap, RejectsWhatIsBeyondItAndOnlyThat) {
  std::vector<TraceArrival> trace;
  for (int i = 0; i < 20; ++i) trace.push_back({0ms, "a", "a", 1, 1000ms, 0ms});
  trace.push_back({1ms, "b", "b", 1, 1000ms, 0ms});
  ReplayOptions options;
  options.max_queued_per_account = 5;
  const ReplayReport report = replay(trace, options);
  EXPECT_EQ(report.accounts.at("b").rejected, 0);
  EXPECT_EQ(report.all.rejected, 15);
  EXPECT_EQ(report.all.succeeded, 6);
}

TEST(Percentiles, AreTheSmallestThatEnoughDoNotExceed) {
  EXPECT_EQ(percentile({}, 95), 0ms);
  EXPECT_EQ(percentile({7ms}, 50), 7ms);
  EXPECT_EQ(percentile({1ms, 2ms, 3ms, 4ms}, 50), 2ms);
  EXPECT_EQ(percentile({1ms, 2ms, 3ms, 4ms}, 95), 4ms);
  EXPECT_EQ(percentile({1ms, 2ms, 3ms, 4ms}, 100), 4ms);
}

}  // namespace
}  // namespace coderunner::sim
