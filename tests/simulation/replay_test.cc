// The brief's own days, replayed: what the old pool did to them, and what the queue does.
#include "sim/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
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

// Two throttled accounts, each with runs that wait out a 429 in their slots, and a third.
ReplayReport throttled_pair(bool reserve_last_slot) {
  std::vector<TraceArrival> trace;
  for (int i = 0; i < 60; ++i)
    for (const char* account : {"first", "second"})
      trace.push_back({i * 1s, account, account, 15, 100ms, 20ms});
  for (int i = 1; i < 120; ++i) trace.push_back({i * 5s, "third", "third", 5, 300ms, 100ms});
  std::ranges::stable_sort(trace, {}, &TraceArrival::at);
  ReplayOptions options = incident_options();
  options.plan.reserve_last_slot = reserve_last_slot;
  return replay(trace, options);
}

// Rulings 25
TEST(TheLastSlot, IsWhatKeepsAThirdAccountFromWaitingBehindTwoThrottledOnes) {
  const auto third_waits = [](bool reserve_last_slot) {
    return percentile(throttled_pair(reserve_last_slot).accounts.at("third").waits, 100);
  };
  RecordProperty("third_with_ms", std::to_string(third_waits(true).count()));
  RecordProperty("third_without_ms", std::to_string(third_waits(false).count()));
  EXPECT_LE(third_waits(true), 1600ms);
  EXPECT_GE(third_waits(false), 20s);
}

// With one limited account its own cap leaves two slots free: the rule takes nothing.
TEST(TheLastSlot, CostsTheIncidentNothing) {
  ReplayOptions without = incident_options();
  without.plan.reserve_last_slot = false;
  const auto trace = trace_of("incident-2026-08-24-1208");
  const ReplayReport with_rule = replay(trace, incident_options());
  const ReplayReport without_rule = replay(trace, without);
  expect_all_succeeded(without_rule);
  EXPECT_EQ(with_rule.all.drained_at, without_rule.all.drained_at);
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

// ---- Floods and gates of one kind each (scenarios R35 to R45)

// 1.6 s, as the brief's typical script: five calls of 300 ms and 100 ms of its own.
constexpr Millis kService = 1600ms;
TraceArrival typical(Millis at, const std::string& account, const std::string& key) {
  return {at, account, key, 5, 300ms, 100ms};
}
TraceArrival typical(Millis at, const std::string& account) {
  return typical(at, account, account);
}

std::string numbered(const std::string& name, int number) { return name + std::to_string(number); }

void in_order(std::vector<TraceArrival>& trace) {
  std::ranges::stable_sort(trace, {}, &TraceArrival::at);
}

Millis worst_wait(const ReplayReport& report, const std::string& account) {
  return percentile(report.accounts.at(account).waits, 100);
}

// R35: with the account cap, and where one account may take all slots.
TEST(AFloodOf500, KeepsAnotherAccountWaitingForOneServiceTimeAtMost) {
  std::vector<TraceArrival> trace(500, typical(0ms, "flood"));
  trace.push_back(typical(10s, "other"));
  for (const int per_account : {2, 4}) {
    const ReplayReport report = replay(trace, {.plan = {.per_account = per_account}});
    EXPECT_EQ(report.all.succeeded, 501);
    EXPECT_LE(worst_wait(report, "other"), kService) << per_account << " per account";
  }
  const ReplayReport fifo = replay(trace, {.plan = {.order = Order::fifo, .per_account = 4}});
  EXPECT_GE(worst_wait(fifo, "other"), 180s) << "what fairness is for";
}

// R36, R44: one key spends its hour and leaves 2,000 rows at the head of the queue.
TEST(AGatedKeyWithABacklog, LeavesTheOtherNineAtFullSpeed) {
  std::vector<TraceArrival> nine;
  for (int key = 1; key <= 9; ++key)
    for (int i = 0; i < 20; ++i) nine.push_back(typical(2min, numbered("other", key)));
  std::vector<TraceArrival> ten(2001, {10s, "top", "top", 0, 0ms, 0ms});
  ten[0] = {0ms, "top", "top", 151, 10ms, 0ms};  // one call more than its hour has
  ten.insert(ten.end(), nine.begin(), nine.end());
  ReplayOptions options{.max_queued_per_account = 3000, .max_queued = 5000};
  options.quota.per_hour = 150;
  const ReplayReport alone = replay(nine, options), beside = replay(ten, options);
  EXPECT_GT(worst_wait(beside, "top"), 50min);
  for (int key = 1; key <= 9; ++key) {
    const std::string account = numbered("other", key);
    EXPECT_EQ(beside.accounts.at(account).succeeded, 20);
    EXPECT_EQ(beside.accounts.at(account).waits, alone.accounts.at(account).waits) << account;
  }
}

// R45: not even of the same account.
TEST(AnExhaustedKey, DelaysNoOtherOfItsAccount) {
  std::vector<TraceArrival> trace(50, typical(0ms, "both", "spent"));
  for (int i = 0; i < 10; ++i) trace.push_back(typical(2min + i * kService, "both", "fresh"));
  ReplayOptions options;
  options.quota.per_hour = 100;
  const ReplayReport report = replay(trace, options);
  const std::vector<Millis>& waits = report.accounts.at("both").waits;
  const auto parked = std::ranges::count_if(waits, [](Millis wait) { return wait > 50min; });
  const auto at_once = std::ranges::count_if(waits, [](Millis wait) { return wait == 0ms; });
  EXPECT_EQ(report.all.killed_at_wall, 0);
  EXPECT_GE(parked, 50 - 100 / 5 - 2) << "all but those that spent the hour";
  EXPECT_LE(parked, 50 - 100 / 5) << "all of one key: the other's ten are not among them";
  EXPECT_GE(at_once, 10);
}

// R40, R47: the cap takes what it takes, and the victims never notice.
TEST(ABurstOf10000, NeverShowsInTheWaitsOfThoseWhoComeSteadily) {
  std::vector<TraceArrival> trace(10'000, typical(0ms, "burst"));
  for (int i = 1; i <= 120; ++i)
    for (int victim = 0; victim < 3; ++victim)
      trace.push_back(typical(i * 5s + victim * kService, numbered("victim", victim)));
  in_order(trace);
  const ReplayReport report = replay(trace, {});
  EXPECT_EQ(report.accounts.at("burst").rejected, 10'000 - limits::kMaxQueuedPerAccount);
  for (int victim = 0; victim < 3; ++victim) {
    const std::string account = numbered("victim", victim);
    EXPECT_EQ(report.accounts.at(account).rejected, 0);
    EXPECT_LE(worst_wait(report, account), kService) << "always, so there is no sawtooth either";
  }
}

// R38: the price of the cap.
TEST(AnAccountThatIsAlone, LeavesTheSlotsBeyondItsCapIdle) {
  const ReplayReport report = replay(std::vector<TraceArrival>(100, typical(0ms, "alone")), {});
  EXPECT_EQ(report.all.max_in_flight, 2) << "of 4";
  EXPECT_EQ(report.all.drained_at, 50 * kService);
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
