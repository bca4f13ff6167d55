#include <gtest/gtest.h>

#include "services/observatory.h"
#include "sim/memory_store.h"
#include "tests/support/fakes.h"

namespace coderunner {
namespace {

using namespace std::chrono_literals;

constexpr UtcTime kNow = UtcTime{1'787'573'280'000ms};

class ObservatoryTest : public ::testing::Test {
 protected:
  void queued(const char* account, const char* key, int count, Millis oldest_age) {
    snapshot_.figures.lanes.push_back({.account_id = {account},
                                       .key = ApiKeyHash{key},
                                       .queued = count,
                                       .oldest_queued_at = kNow - oldest_age});
    snapshot_.lanes.push_back({.account = {account},
                               .key = ApiKeyHash{key},
                               .rows = {{.execution = {++rows_},
                                         .job = {rows_},
                                         .queued_at = kNow - oldest_age,
                                         .not_before = {}}}});
    of(account).queued += count;
  }
  void running(const char* account, int count, const char* key = "any") {
    of(account).in_flight += count;
    for (int i = 0; i < count; ++i)
      snapshot_.running.push_back({.execution = {++rows_},
                                   .account = {account},
                                   .run = {},
                                   .executor = {},
                                   .started_at = kNow,
                                   .key = ApiKeyHash{key}});
  }
  void gate(const char* key, Millis left) {
    snapshot_.gates.push_back(
        {.key = {key}, .until = kNow + left, .first_seen = kNow, .last_seen = kNow});
  }
  // It was closed for so long, and opened just now.
  void opened(const char* key, Millis after) {
    snapshot_.gate_records.push_back({extend(
        std::nullopt,
        {.key = {key}, .until = kNow, .first_seen = kNow - after, .last_seen = kNow - after},
        kNow - after, {})});
  }
  AccountFigures& of(const char* account) {
    for (AccountFigures& one : snapshot_.figures.accounts)
      if (one.account == account) return one;
    return snapshot_.figures.accounts.emplace_back(
        AccountFigures{.account = account, .account_id = {account}});
  }
  // Of the head of its lane, or of a row behind it.
  WaitReason why(const char* account, const char* key, bool is_head = true) const {
    Execution execution;
    execution.account_id = {account};
    execution.key = ApiKeyHash{key};
    for (const Lane& lane : snapshot_.lanes)
      if (is_head && lane.account == execution.account_id && lane.key == execution.key)
        execution.id = lane.rows.front().execution;
    return why_queued(execution, snapshot_, plan_of(snapshot_));
  }
  DrainerState state() const { return report_queue(snapshot_).state; }

  std::int64_t rows_ = 0;
  QueueSnapshot snapshot_{.figures = {.accounts = {}, .lanes = {}, .last_tick = kNow - 1s},
                          .gates = {},
                          .drainer = {},
                          .limits = {},
                          .now = kNow};
};

TEST_F(ObservatoryTest, TellsIdleGatedDrainingSaturatedAndStalledApart) {
  EXPECT_EQ(state(), DrainerState::idle);
  queued("a", "k", 3, 1min);
  EXPECT_EQ(state(), DrainerState::draining);
  gate("k", 30s);
  EXPECT_EQ(state(), DrainerState::gated);
  queued("b", "other", 1, 1s);
  running("b", 4);
  EXPECT_EQ(state(), DrainerState::saturated);
  snapshot_.drainer.executor_down_until = kNow + 1s;
  EXPECT_EQ(state(), DrainerState::executor_unavailable);
  snapshot_.figures.last_tick = kNow - 6s;
  EXPECT_EQ(state(), DrainerState::stalled);
}

TEST_F(ObservatoryTest, ADrainerThatNeverTickedIsStalled) {
  snapshot_.figures.last_tick.reset();
  EXPECT_EQ(state(), DrainerState::stalled);
}

TEST_F(ObservatoryTest, KeepsTheAgeOfParkedRowsOutOfTheEligibleAge) {
  queued("a", "gated", 5, 10h);
  queued("a", "open", 1, 3s);
  gate("gated", 1min);
  const QueueReport report = report_queue(snapshot_);
  EXPECT_EQ(report.oldest_eligible_age, 3s);
  EXPECT_EQ(report.oldest_parked_age, 10h);
  EXPECT_EQ(report.oldest_queued_age, 10h);
  EXPECT_EQ(report.depth, 6);
  ASSERT_EQ(report.gated_keys.size(), 1U);
  EXPECT_EQ(report.gated_keys[0].queued, 5);
}

TEST_F(ObservatoryTest, AnEmptyQueueHasAgesOfZero) {
  const QueueReport report = report_queue(snapshot_);
  EXPECT_EQ(report.oldest_queued_age, 0ms);
  EXPECT_EQ(report.depth, 0);
}

// R75: one line each, the first that holds
TEST_F(ObservatoryTest, GivesTheFirstReasonThatHolds) {
  queued("a", "k", 3, 1min);
  EXPECT_EQ(why("a", "k"), (WaitReason{QueuedReason::next, {}}));
  EXPECT_EQ(why("a", "k", false), (WaitReason{QueuedReason::behind, {}}));
  running("z", 4);
  EXPECT_EQ(why("a", "k", false), (WaitReason{QueuedReason::no_free_slot, {}}));
  running("a", 2);
  EXPECT_EQ(why("a", "k"), (WaitReason{QueuedReason::account_at_cap, {}}));
  snapshot_.drainer.executor_down_until = kNow + 2s;
  EXPECT_EQ(why("a", "k"), (WaitReason{QueuedReason::executor_unavailable, kNow + 2s}));
  gate("k", 30s);
  EXPECT_EQ(why("a", "k"), (WaitReason{QueuedReason::key_gated, kNow + 30s}));
  snapshot_.standing.paused.insert({"a"});
  EXPECT_EQ(why("a", "k"), (WaitReason{QueuedReason::paused, {}}));
}

TEST_F(ObservatoryTest, NamesALimitedKeysLastSlotAndAnOpenedGatesTrial) {
  queued("a", "k", 3, 1min);
  running("z", 3);
  opened("k", 1min);
  EXPECT_EQ(why("a", "k").reason, QueuedReason::last_slot_reserved);
  opened("probed", 1h);
  queued("b", "probed", 3, 1min);
  running("b", 1, "probed");
  EXPECT_EQ(why("b", "probed").reason, QueuedReason::key_probing);
}

TEST_F(ObservatoryTest, CountsAnAccountsOwnCap) {
  queued("a", "k", 3, 1min);
  running("a", 1);
  snapshot_.standing.per_account[{"a"}] = 1;
  EXPECT_EQ(why("a", "k").reason, QueuedReason::account_at_cap);
}

TEST_F(ObservatoryTest, PausedRowsAreParkedAndAPauseOfEverybodyIsAState) {
  queued("a", "k", 3, 10h);
  queued("b", "other", 1, 2s);
  snapshot_.standing.paused.insert({"a"});
  EXPECT_EQ(report_queue(snapshot_).oldest_eligible_age, 2s);
  EXPECT_EQ(report_queue(snapshot_).oldest_parked_age, 10h);
  EXPECT_EQ(state(), DrainerState::draining);
  snapshot_.standing.everybody_paused = true;
  EXPECT_EQ(state(), DrainerState::paused);
  EXPECT_EQ(report_queue(snapshot_).oldest_eligible_age, 0ms);
}

TEST_F(ObservatoryTest, RowsOfAPausedAccountAloneAreNoGatedQueue) {
  queued("a", "k", 2, 1s);
  snapshot_.standing.paused.insert(AccountId{"a"});
  EXPECT_EQ(state(), DrainerState::idle);
}

TEST_F(ObservatoryTest, AnExecutorThatIsBeingTriedAgainIsStillDown) {
  queued("a", "k", 1, 1s);
  snapshot_.drainer.executor_down_until = kNow - 1s;
  EXPECT_EQ(why("a", "k").reason, QueuedReason::executor_unavailable);
}

TEST_F(ObservatoryTest, ADispatchThatHasNotBegunIsInFlight) {
  queued("a", "k", 2, 1min);
  const ExecutionId head = snapshot_.lanes.front().rows.front().execution;
  snapshot_.figures.outstanding = {{head, {"a"}, ApiKeyHash{"k"}}, {{900}, {"a"}, {}}};
  QueueReport report = report_queue(snapshot_);
  EXPECT_EQ(report.in_flight, 2);
  EXPECT_EQ(report.accounts.front().in_flight, 2);
  snapshot_.running.push_back({{900}, {"a"}, {}, {}, kNow, {}});  // it began meanwhile
  EXPECT_EQ(report_queue(snapshot_).in_flight, 2);
  snapshot_.lanes.front().rows.front().execution = {901};  // what waits behind it
  EXPECT_EQ(why("a", "k").reason, QueuedReason::account_at_cap);
  Execution handed_over;
  handed_over.id = head;
  handed_over.account_id = {"a"};
  handed_over.key = ApiKeyHash{"k"};
  EXPECT_EQ(why_queued(handed_over, snapshot_, plan_of(snapshot_)).reason, QueuedReason::next);
  snapshot_.drainer.executor_down_until = kNow + 1s;
  EXPECT_EQ(why_queued(handed_over, snapshot_, plan_of(snapshot_)).reason,
            QueuedReason::executor_unavailable);
}

TEST_F(ObservatoryTest, RowsThatAreAllHandedOverAreNotSaturatedByThemselves) {
  snapshot_.limits.concurrency = 1;
  queued("a", "k", 1, 1s);
  snapshot_.figures.outstanding = {
      {snapshot_.lanes.front().rows.front().execution, {"a"}, ApiKeyHash{"k"}}};
  snapshot_.lanes.clear();
  EXPECT_EQ(state(), DrainerState::draining);
}

TEST_F(ObservatoryTest, EveryStateAndReasonHasTheWordOfTheContract) {
  EXPECT_EQ(to_text(DrainerState::stalled), "stalled");
  EXPECT_EQ(to_text(DrainerState::executor_unavailable), "executor_unavailable");
  EXPECT_EQ(to_text(DrainerState::idle), "idle");
  EXPECT_EQ(to_text(QueuedReason::key_gated), "key_gated");
  EXPECT_EQ(to_text(QueuedReason::next), "next");
}

// The same, read from a store.
class ObservedStoreTest : public ::testing::Test {
 protected:
  ExecutionId admit(const std::string& account) {
    Admitted admitted;
    store_.admit(
        {.ref = {account + std::to_string(++refs_)},
         .account = account,
         .account_id = {account},
         .key = ApiKeyHash{account},
         .sealed_key = "sealed",
         .source = "return",
         .queued_at = clock_.utc_now()},
        [&](const Result<AdmitAnswer>& answer) { admitted = std::get<Admitted>(*answer); });
    return admitted.execution;
  }

  int refs_ = 0;
  MemoryStore store_;
  fakes::TurnedClock clock_;
  Observatory observatory_{
      {}, {}, {.view = store_, .gates = store_, .clock = clock_, .drainer = [] {
                 return DrainerStatus{};
               }}};
};

TEST_F(ObservedStoreTest, OnlyAQueuedExecutionIsToldWhyItWaits) {
  const ExecutionId waiting = admit("a"), behind = admit("a");
  const ExecutionId ended =
      store_.plant({.account = "a", .status = "success", .queued_at = clock_.utc_now()}).execution;
  EXPECT_EQ(observatory_.execution(waiting)->value().waits->reason, QueuedReason::next);
  clock_.advance(1s);
  EXPECT_EQ(observatory_.execution(ended)->value().waits, std::nullopt);
  EXPECT_FALSE(observatory_.execution({999})->has_value());

  const auto listed = *observatory_.executions({.limit = 10});
  ASSERT_EQ(listed.size(), 3U);
  EXPECT_EQ(listed[0].execution.id, ended);
  EXPECT_EQ(listed[0].waits, std::nullopt);
  EXPECT_EQ(listed[1].execution.id, behind);
  EXPECT_TRUE(listed[1].waits.has_value());
}

TEST_F(ObservedStoreTest, CountsWhatIsStored) {
  admit("a");
  admit("b");
  EXPECT_EQ(observatory_.queue()->depth, 2);
  EXPECT_EQ(observatory_.queue()->state, DrainerState::stalled) << "nobody has ticked";
}

TEST_F(ObservedStoreTest, AStoreThatIsAwayIsAFailureAndNotAnEmptyQueue) {
  const ExecutionId waiting = admit("a");
  store_.fail_with(fail(Failure::unavailable, "away"));
  EXPECT_FALSE(observatory_.queue());
  EXPECT_FALSE(observatory_.execution(waiting));
  EXPECT_FALSE(observatory_.executions({.limit = 10}));
}

TEST_F(ObservedStoreTest, AnotherProcesssDrainerIsReadFromItsHeartbeatWhileItTicks) {
  Observatory apart{{}, {}, {.view = store_, .gates = store_, .clock = clock_, .drainer = {}}};
  const ExecutionId waiting = admit("a");
  const UtcTime until = clock_.utc_now() + 30s;
  ASSERT_TRUE(store_.heartbeat({{"d"}, clock_.utc_now(), ExecutorTrouble{"refused", until}}));
  EXPECT_EQ(apart.queue()->state, DrainerState::executor_unavailable);
  EXPECT_EQ(apart.queue()->executor_error, "refused");
  EXPECT_EQ(apart.execution(waiting)->value().waits,
            (WaitReason{QueuedReason::executor_unavailable, until}));
  clock_.advance(limits::kStalledAfter + 1s);
  EXPECT_EQ(apart.queue()->state, DrainerState::stalled);
  EXPECT_EQ(apart.queue()->executor_error, "") << "of a drainer that is gone";
}

TEST_F(ObservedStoreTest, TheRowBehindADispatchThatHasNotBegunIsTheNext) {
  const ExecutionId out = admit("a"), next = admit("a"), behind = admit("a");
  const auto job = *(**store_.execution(out)).job;
  ASSERT_EQ(*store_.mint({out, job, {"n"}, {"d"}, clock_.utc_now()}), MintAnswer::minted);
  EXPECT_EQ(observatory_.queue()->in_flight, 1);
  EXPECT_EQ(observatory_.execution(out)->value().waits->reason, QueuedReason::next);
  EXPECT_EQ(observatory_.execution(next)->value().waits->reason, QueuedReason::next);
  EXPECT_EQ(observatory_.execution(behind)->value().waits->reason, QueuedReason::behind);
}

}  // namespace
}  // namespace coderunner
