#include <gtest/gtest.h>

#include "domain/back_off.h"
#include "domain/fair_share.h"
#include "domain/lane_plan.h"

namespace coderunner {
namespace {

using namespace std::chrono_literals;

constexpr UtcTime kNow = UtcTime{1'787'573'280'000ms};

// A lane of `count` rows whose ids and ages follow `first`.
Lane lane(const char* account, const char* key, std::int64_t first, int count = 2) {
  Lane made{.account = {account}, .key = {}, .rows = {}};
  if (key != nullptr) made.key = ApiKeyHash{key};
  for (int i = 0; i < count; ++i)
    made.rows.push_back(
        {.execution = {first + i}, .job = {first + i}, .queued_at = kNow - 1h + Millis{first + i}});
  return made;
}

Occupied running(std::int64_t execution, const char* account, const char* key = nullptr) {
  Occupied occupied{{execution}, {account}, {}};
  if (key != nullptr) occupied.key = ApiKeyHash{key};
  return occupied;
}

std::vector<std::int64_t> picked(const Plan& plan) {
  std::vector<std::int64_t> ids;
  for (const Pick& pick : plan.picks) ids.push_back(pick.row.execution.value);
  return ids;
}

QueuedReason reason_of(const Plan& plan, const char* account) {
  for (const LaneSkip& skip : plan.skips)
    if (skip.account == AccountId{account}) return skip.reason;
  return QueuedReason::next;
}

using Ids = std::vector<std::int64_t>;

TEST(Plan, NeverPicksMoreThanTheFreeSlotsOrAnAccountsCap) {
  const PlanInput input{
      .lanes = {lane("a", "ka", 10, 4), lane("b", "kb", 20, 4), lane("c", "kc", 30, 4)},
      .now = kNow};
  const Plan plan = plan_lanes(input, FairShare{});
  EXPECT_EQ(picked(plan), (Ids{10, 20, 30, 11}));
  EXPECT_EQ(reason_of(plan, "a"), QueuedReason::account_at_cap);
  EXPECT_EQ(reason_of(plan, "b"), QueuedReason::no_free_slot);
}

// R38: the slots beyond its cap stay free for whoever comes.
TEST(Plan, LetsAnAccountThatIsAloneUseItsCapOnlyAndSaysSo) {
  const Plan plan = plan_lanes({.lanes = {lane("a", "ka", 10, 4)}, .now = kNow}, FairShare{});
  EXPECT_EQ(picked(plan), (Ids{10, 11}));
  EXPECT_EQ(reason_of(plan, "a"), QueuedReason::account_at_cap);
}

TEST(Plan, CountsRunsAndOutstandingDispatchesAndNeverPicksThoseAgain) {
  const PlanInput input{.lanes = {lane("a", "ka", 10, 3)},
                        .in_flight = {running(10, "a"), running(99, "z")},
                        .now = kNow};
  EXPECT_EQ(picked(plan_lanes(input, FairShare{})), (Ids{11}));
}

TEST(Plan, HoldsTheAccountCapOverSeveralKeysOfOneAccount) {
  const PlanInput input{.lanes = {lane("a", "k1", 10), lane("a", "k2", 5), lane("a", nullptr, 7)},
                        .now = kNow};
  EXPECT_EQ(picked(plan_lanes(input, FairShare{})), (Ids{5, 6}));
}

TEST(Plan, ParksAGatedKeyAndDelaysNoOtherNotEvenOfItsAccount) {
  const PlanInput input{
      .lanes = {lane("a", "gated", 1), lane("a", "open", 10), lane("b", "kb", 20)},
      .gates = {{{"gated"}, kNow + 30s}},
      .now = kNow};
  const Plan plan = plan_lanes(input, FairShare{});
  EXPECT_EQ(picked(plan), (Ids{10, 20, 11, 21}));
  EXPECT_EQ(reason_of(plan, "a"), QueuedReason::key_gated);
  EXPECT_EQ(plan.next_change, kNow + 30s);
}

TEST(Plan, OpensAGateAtItsTime) {
  PlanInput input{.lanes = {lane("a", "k", 1)}, .gates = {{{"k"}, kNow}}, .now = kNow};
  EXPECT_EQ(picked(plan_lanes(input, FairShare{})), (Ids{1, 2}));
}

TEST(Plan, LetsNothingOvertakeARowThatBacksOffInItsLane) {
  Lane backing_off = lane("a", "k", 1);
  backing_off.rows[0].not_before = kNow + 2s;
  const Plan plan = plan_lanes({.lanes = {backing_off}, .now = kNow}, FairShare{});
  EXPECT_TRUE(plan.picks.empty());
  EXPECT_EQ(reason_of(plan, "a"), QueuedReason::executor_unavailable);
  EXPECT_EQ(plan.next_change, kNow + 2s);
}

TEST(Plan, WakesForARowThatBacksOffBehindItsLanesPick) {
  Lane second_backs_off = lane("a", "k", 1);
  second_backs_off.rows[1].not_before = kNow + 2s;
  const Plan plan = plan_lanes({.lanes = {second_backs_off}, .now = kNow}, FairShare{});
  EXPECT_EQ(picked(plan), (Ids{1}));
  EXPECT_EQ(reason_of(plan, "a"), QueuedReason::executor_unavailable) << "slots are free";
  EXPECT_EQ(plan.next_change, kNow + 2s);
}

TEST(Plan, SaysThatTheExecutorIsAwayBeforeItSpeaksOfCaps) {
  const PlanInput input{.lanes = {lane("a", "ka", 10)},
                        .in_flight = {running(1, "a"), running(2, "a")},
                        .most_picks = 0,
                        .now = kNow};
  EXPECT_EQ(reason_of(plan_lanes(input, FairShare{}), "a"), QueuedReason::executor_unavailable);
}

TEST(Plan, SaysThatAKeyIsProbedBeforeItSpeaksOfTheExecutor) {
  const PlanInput input{.lanes = {lane("a", "ka", 10)},
                        .in_flight = {running(1, "a", "ka")},
                        .probing = {{"ka"}},
                        .executor_down_until = kNow + 1s,
                        .now = kNow};
  EXPECT_EQ(reason_of(plan_lanes(input, FairShare{}), "a"), QueuedReason::key_probing);
}

TEST(Plan, ForgetsABackOffThatAWrongWallClockWrote) {
  Lane backing_off = lane("a", "k", 1);
  backing_off.rows[0].not_before = kNow + 24h * 365;
  EXPECT_EQ(picked(plan_lanes({.lanes = {backing_off}, .now = kNow}, FairShare{})), (Ids{1, 2}));
}

TEST(Plan, HandsNothingToAnExecutorThatIsDown) {
  const Plan plan = plan_lanes(
      {.lanes = {lane("a", "k", 1)}, .executor_down_until = kNow + 1s, .now = kNow}, FairShare{});
  EXPECT_TRUE(plan.picks.empty());
  EXPECT_EQ(plan.next_change, kNow + 1s);
}

TEST(Plan, SkipsAPausedAccountWithoutAnEnd) {
  const Plan plan =
      plan_lanes({.lanes = {lane("a", "k", 1)}, .paused = {{"a"}}, .now = kNow}, FairShare{});
  EXPECT_EQ(reason_of(plan, "a"), QueuedReason::paused);
  EXPECT_FALSE(plan.next_change.has_value());
}

TEST(Plan, ServesTheSmallestVirtualTimeFirstWhenFairAndTheOldestWhenFifo) {
  FairShare shares;
  shares.rebuild({{{"old"}, 100s}, {{"new"}, 1s}});
  PlanInput input{.limits = {.concurrency = 1},
                  .lanes = {lane("old", "k1", 1), lane("new", "k2", 9)},
                  .now = kNow};
  EXPECT_EQ(picked(plan_lanes(input, shares)), (Ids{9}));
  input.limits.order = Order::fifo;
  EXPECT_EQ(picked(plan_lanes(input, shares)), (Ids{1}));
}

TEST(FairShare, GrowsByTheSlotTimeHeldRunningWorkIncluded) {
  FairShare shares;
  shares.set_active({{"a"}, {"b"}});
  shares.hold(3s, {{{"a"}, 2}, {{"b"}, 1}});
  EXPECT_EQ(shares.virtual_time({"a"}), 6s);
  EXPECT_EQ(shares.virtual_time({"b"}), 3s);
}

TEST(FairShare, GivesNoCreditForTimeSpentParked) {
  FairShare shares;
  shares.set_active({{"a"}, {"parked"}});
  shares.set_active({{"a"}});
  shares.hold(1h, {{{"a"}, 1}});
  shares.set_active({{"a"}, {"parked"}});
  EXPECT_EQ(shares.virtual_time({"parked"}), 1h);
}

TEST(FairShare, OwesNobodyAnythingOnceAllHaveBeenIdle) {
  FairShare shares;
  shares.set_active({{"early"}});
  shares.hold(1min, {{{"early"}, 1}});
  shares.set_active({});
  shares.set_active({{"early"}, {"late"}});
  EXPECT_EQ(shares.virtual_time({"early"}), shares.virtual_time({"late"}));
}

TEST(FairShare, KeepsARebuiltDebtOnlyOfThoseWhoStillCompete) {
  FairShare shares;
  shares.rebuild({{{"goes on"}, 10s}, {{"is idle"}, 99s}});
  shares.set_active({{"goes on"}, {"is new"}});
  EXPECT_EQ(shares.virtual_time({"goes on"}), 10s);
  EXPECT_EQ(shares.virtual_time({"is new"}), 10s);
  shares.rebuild({{{"is idle"}, 99s}});
  shares.set_active({{"is new"}});
  EXPECT_EQ(shares.virtual_time({"is new"}), 0s);
}

TEST(FairShare, KeepsTheDebtOfOneThatLeavesAndComesStraightBack) {
  FairShare shares;
  shares.set_active({{"greedy"}, {"meek"}});
  shares.hold(1min, {{{"greedy"}, 2}});
  shares.set_active({{"meek"}});
  shares.set_active({{"greedy"}, {"meek"}});
  EXPECT_EQ(shares.virtual_time({"greedy"}), 2min);
  EXPECT_EQ(shares.virtual_time({"meek"}), 0s);
}

TEST(BackOff, DoublesWithJitterFromAQuarterSecondToThirty) {
  EXPECT_EQ(dispatch_back_off(1, 255), 250ms);
  EXPECT_EQ(dispatch_back_off(1, 0), 125ms);
  EXPECT_EQ(dispatch_back_off(3, 255), 1s);
  EXPECT_EQ(dispatch_back_off(1000, 255), 30s);
  EXPECT_EQ(dispatch_back_off(1000, 0), 15s);
}

// Rulings 25: two throttled accounts, each with runs that wait out a 429 in their slots.
TEST(Plan, NeverGivesTheLastFreeSlotToAKeyThatMetA429Lately) {
  PlanInput input{.lanes = {lane("a", "ka", 10), lane("b", "kb", 20)},
                  .in_flight = {running(1, "a", "ka"), running(2, "b", "kb"), running(3, "z")},
                  .limited = {{"ka"}, {"kb"}},
                  .now = kNow};
  const Plan plan = plan_lanes(input, FairShare{});
  EXPECT_TRUE(plan.picks.empty());
  EXPECT_EQ(reason_of(plan, "a"), QueuedReason::last_slot_reserved);
  EXPECT_EQ(reason_of(plan, "b"), QueuedReason::last_slot_reserved);

  input.lanes.push_back(lane("c", "kc", 30));
  EXPECT_EQ(picked(plan_lanes(input, FairShare{})), (Ids{30})) << "it is for whoever is not";
  input.in_flight.pop_back();
  EXPECT_EQ(picked(plan_lanes(input, FairShare{})), (Ids{30, 31})) << "both, for c has two";
  input.lanes.pop_back();
  EXPECT_EQ(picked(plan_lanes(input, FairShare{})), (Ids{10})) << "of two, one is not the last";
}

TEST(Plan, ReservesNoLastSlotWhereThereIsOnlyOne) {
  const PlanInput input{.limits = {.concurrency = 1, .per_account = 1},
                        .lanes = {lane("a", "ka", 10)},
                        .limited = {{"ka"}},
                        .now = kNow};
  EXPECT_EQ(picked(plan_lanes(input, FairShare{})), (Ids{10}));
}

TEST(Plan, SaysAtCapBeforeReserved) {
  const PlanInput input{
      .lanes = {lane("a", "ka", 10)},
      .in_flight = {running(1, "a", "ka"), running(2, "a", "ka"), running(3, "z")},
      .limited = {{"ka"}},
      .now = kNow};
  EXPECT_EQ(reason_of(plan_lanes(input, FairShare{}), "a"), QueuedReason::account_at_cap);
}

// Rulings 11
TEST(Plan, StartsOneRunOfAKeyWhoseLongGateHasJustOpened) {
  PlanInput input{
      .lanes = {lane("a", "ka", 10, 4), lane("b", "kb", 20, 4)}, .probing = {{"ka"}}, .now = kNow};
  Plan plan = plan_lanes(input, FairShare{});
  EXPECT_EQ(picked(plan), (Ids{10, 20, 21})) << "and another key's as ever";
  EXPECT_EQ(reason_of(plan, "a"), QueuedReason::key_probing);
  input.in_flight = {running(10, "a", "ka")};
  plan = plan_lanes(input, FairShare{});
  EXPECT_EQ(picked(plan), (Ids{20, 21}));
  EXPECT_EQ(reason_of(plan, "a"), QueuedReason::key_probing);
}

TEST(Plan, ProbesAKeyOverAllItsAccounts) {
  const PlanInput input{.lanes = {lane("a", "shared", 10), lane("b", "shared", 20)},
                        .probing = {{"shared"}},
                        .now = kNow};
  EXPECT_EQ(picked(plan_lanes(input, FairShare{})), (Ids{10}));
}

TEST(Plan, HoldsAnAccountsOwnCap) {
  const PlanInput input{.lanes = {lane("a", "ka", 10, 4), lane("b", "kb", 20, 4)},
                        .per_account = {{{"a"}, 1}, {{"b"}, 3}},
                        .now = kNow};
  const Plan plan = plan_lanes(input, FairShare{});
  EXPECT_EQ(picked(plan), (Ids{10, 20, 21, 22}));
  EXPECT_EQ(reason_of(plan, "a"), QueuedReason::account_at_cap);
}

TEST(Plan, ACapOfZeroHoldsAnAccountBackAltogether) {
  const PlanInput input{.lanes = {lane("a", "ka", 10)}, .per_account = {{{"a"}, 0}}, .now = kNow};
  EXPECT_TRUE(plan_lanes(input, FairShare{}).picks.empty());
}

TEST(Plan, APauseOfEverybodyPicksNothingAndSaysSo) {
  const PlanInput input{.lanes = {lane("a", "ka", 10)}, .everybody_paused = true, .now = kNow};
  const Plan plan = plan_lanes(input, FairShare{});
  EXPECT_TRUE(plan.picks.empty());
  EXPECT_EQ(reason_of(plan, "a"), QueuedReason::paused);
}

TEST(Plan, TriesAnExecutorInTroubleWithOnePick) {
  PlanInput input{
      .lanes = {lane("a", "ka", 10), lane("b", "kb", 20)}, .most_picks = 1, .now = kNow};
  const Plan plan = plan_lanes(input, FairShare{});
  EXPECT_EQ(picked(plan), (Ids{10}));
  EXPECT_EQ(reason_of(plan, "b"), QueuedReason::executor_unavailable);
  input.limited = {{"ka"}, {"kb"}};
  EXPECT_EQ(picked(plan_lanes(input, FairShare{})), (Ids{10}))
      << "a trial of one is not the last free slot";
}

}  // namespace
}  // namespace coderunner
