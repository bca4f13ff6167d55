#include <gtest/gtest.h>

#include <functional>

#include "tests/support/drainer_stage.h"
#include "tests/support/passing_dispatch.h"

namespace coderunner {
namespace {

TEST_F(DrainerTest, ARowStaysQueuedUntilTheExecutorBegins) {
  const ExecutionId id = admit("a");
  Drainer drainer = make();
  tick(drainer);
  ASSERT_EQ(dispatches(), 1U);
  EXPECT_EQ(status(id), Status::queued);
  EXPECT_TRUE(begin(id));
  EXPECT_EQ(status(id), Status::running);
}

TEST_F(DrainerTest, NeverExceedsTheCapsWhateverIsQueued) {
  for (int i = 0; i < 20; ++i) {
    admit("a");
    admit("b");
    admit("c");
  }
  Drainer drainer = make();
  tick(drainer);
  tick(drainer, 1s);
  std::map<std::string, int> per_account;
  for (const Dispatch& dispatch : transport_.started)
    ++per_account[(**store_.execution(dispatch.execution)).account];
  EXPECT_EQ(dispatches(), 4U);
  for (const auto& [account, count] : per_account) EXPECT_LE(count, 2) << account;
}

TEST_F(DrainerTest, RunsOfAnEarlierDrainerHoldTheirSlots) {
  const ExecutionId first = admit("a"), second = admit("a");
  admit("a");
  {
    Drainer killed = make("before");
    tick(killed);
    ASSERT_TRUE(begin(first) && begin(second));
  }
  transport_.started.clear();
  Drainer next = make("after");
  tick(next, 1s);
  EXPECT_EQ(dispatches(), 0U);
  ASSERT_EQ(*store_.finish(first, run_of(first), {}, clock_.utc_now()), FinishAnswer::finished);
  tick(next, 1s);
  EXPECT_EQ(dispatches(), 1U);
}

// Ruling 4: a restart gives nobody his used slot time back.
TEST_F(DrainerTest, WhatAnAccountUsedBeforeARestartStillCounts) {
  limits_.concurrency = 1;
  const ExecutionId before = admit("a");
  {
    Drainer killed = make("before");
    ASSERT_TRUE(begins(killed, before));
    clock_.advance(60s);
    finish(before);
  }
  transport_.started.clear();
  admit("a");
  clock_.advance(1s);
  const ExecutionId younger = admit("b");
  Drainer next = make("after");
  tick(next);
  ASSERT_EQ(dispatches(), 1U);
  EXPECT_EQ(transport_.started[0].execution, younger);
}

TEST_F(DrainerTest, RevokesWhatADeadDrainerHadMintedBeforeItsFirstPick) {
  const ExecutionId id = admit("a");
  {
    Drainer killed = make("before");
    tick(killed);
  }
  Drainer next = make("after");
  clock_.advance(1s);
  limits_.concurrency = 0;
  Drainer only_recovers = make("observer");
  tick(only_recovers);
  EXPECT_FALSE(begin(id)) << "the dead drainer's nonce must be worth nothing";
  tick(next);
  EXPECT_EQ(dispatches(), 2U);
  EXPECT_TRUE(begin(id));
}

TEST_F(DrainerTest, APausedAccountHoldsUpNobodyElseAndIsNotAskedForAllTheTime) {
  for (int i = 0; i < 4; ++i) {
    admit("paused");
    admit("also");
  }
  const ExecutionId other = admit("other");
  store_.pause_account(secrets_.account_id("paused"));
  store_.pause_account(secrets_.account_id("also"));
  Drainer drainer = make();
  EXPECT_EQ(tick(drainer), limits::kPollInterval);
  ASSERT_EQ(dispatches(), 1U);
  EXPECT_EQ(transport_.started.front().execution, other);
}

TEST_F(DrainerTest, AGatedKeyIsSkippedNotFailedAndResumesAtItsTime) {
  const ExecutionId gated = admit("a", "k"), open = admit("a", "other");
  ASSERT_TRUE(store_.close({.key = secrets_.api_key_hash("k"),
                            .until = clock_.utc_now() + 700ms,
                            .first_seen = clock_.utc_now(),
                            .last_seen = clock_.utc_now()},
                           clock_.utc_now()));
  Drainer drainer = make();
  const Millis wait = tick(drainer);
  ASSERT_EQ(dispatches(), 1U);
  EXPECT_EQ(transport_.started[0].execution, open);
  EXPECT_EQ(wait, 700ms);
  tick(drainer, wait);
  ASSERT_EQ(dispatches(), 2U);
  EXPECT_EQ(transport_.started[1].execution, gated);
}

// R51
TEST_F(DrainerTest, AnHoursGatePolledEachSecondCountsNoAttemptAndThenStartsItsRowOnce) {
  const ExecutionId gated = admit("a", "k");
  const auto attempts = [&] { return (**store_.dispatch_trace(gated)).attempts; };
  ASSERT_TRUE(store_.close({.key = secrets_.api_key_hash("k"),
                            .until = clock_.utc_now() + 60min,
                            .first_seen = clock_.utc_now(),
                            .last_seen = clock_.utc_now()},
                           clock_.utc_now()));
  Drainer drainer = make();
  tick(drainer);
  for (int second = 1; second < 3600; ++second) tick(drainer, 1s);
  EXPECT_EQ(attempts(), 0);
  EXPECT_EQ(status(gated), Status::queued);
  tick(drainer, 1s);
  EXPECT_EQ(attempts(), 1);
  ASSERT_TRUE(begin(gated));
  finish(gated);
  tick(drainer, 1s);
  EXPECT_EQ(status(gated), Status::success);
  EXPECT_EQ(dispatches(), 1U);
}

TEST_F(DrainerTest, ARowWhoseJobOrKeyIsGoneEndsNeverDispatchedAndHoldsUpNobody) {
  const ExecutionId gone = store_
                               .plant({.account = "a",
                                       .account_id = secrets_.account_id("a"),
                                       .key = secrets_.api_key_hash("a"),
                                       .queued_at = clock_.utc_now() - 1h,
                                       .with_job = false})
                               .execution;
  const ExecutionId behind = admit("a");
  limits_.per_account = 1;
  Drainer drainer = make();
  const Millis wait = tick(drainer);
  EXPECT_EQ((**store_.execution(gone)).state(), State::never_dispatched);
  EXPECT_TRUE(events_.has("never_dispatched"));
  tick(drainer, wait);
  ASSERT_EQ(dispatches(), 1U);
  EXPECT_EQ(transport_.started[0].execution, behind);
}

TEST_F(DrainerTest, AStoreThatIsAwayLosesNoAnswer) {
  limits_.concurrency = 1;
  const ExecutionId id = admit("a");
  admit("b");
  Drainer drainer = make();
  ASSERT_TRUE(begins(drainer, id));
  finish(id);
  store_.fail_with(Error{Failure::unavailable, "away"});
  tick(drainer);
  tick(drainer, 1s);
  EXPECT_TRUE(events_.has("tick_failed"));
  store_.fail_with(std::nullopt);
  tick(drainer, 1s);
  EXPECT_EQ(dispatches(), 2U);
}

TEST_F(DrainerTest, StopsPickingButGoesOnSettling) {
  limits_.concurrency = 1;
  const ExecutionId id = admit("a");
  admit("b");
  Drainer drainer = make();
  ASSERT_TRUE(begins(drainer, id));
  drainer.stop_picking();
  finish(id);
  tick(drainer);
  EXPECT_EQ(drainer.status().outstanding, 0);
  EXPECT_EQ(dispatches(), 1U);
}

TEST_F(DrainerTest, ServesAQuietAccountBeforeFloodsThatHaveHeldTheSlots) {
  limits_.concurrency = 2;
  limits_.per_account = 1;
  for (int i = 0; i < 10; ++i) {
    admit("flood1");
    admit("flood2");
  }
  Drainer drainer = make();
  tick(drainer);
  for (const Dispatch& dispatch : std::vector{transport_.started})
    ASSERT_TRUE(begin(dispatch.execution));
  clock_.advance(30s);
  const ExecutionId quiet = admit("quiet");
  tick(drainer);
  finish(transport_.started[0].execution);
  tick(drainer);
  ASSERT_EQ(dispatches(), 3U);
  EXPECT_EQ(transport_.started.back().execution, quiet);
}

TEST_F(DrainerTest, HeartbeatsIntoTheStoreWhileIdle) {
  Drainer drainer = make();
  tick(drainer);
  EXPECT_EQ((*store_.figures()).last_tick, clock_.utc_now());
  EXPECT_EQ(tick(drainer, 5s), 1s);
  EXPECT_EQ((*store_.figures()).last_tick, clock_.utc_now());
}

class GatesThatFail final : public GateStore {
 public:
  explicit GatesThatFail(GateStore& real) : real_(real) {}
  bool away = false;
  Result<Gate> close(const Gate& seen, UtcTime now) override { return real_.close(seen, now); }
  Result<std::vector<Gate>> closed(UtcTime now) override {
    if (away) return fail(Failure::unavailable, "away");
    return real_.closed(now);
  }
  Result<std::optional<Gate>> closed(const ApiKeyHash& key, UtcTime now) override {
    return real_.closed(key, now);
  }
  Result<std::optional<Gate>> last(const ApiKeyHash& key) override { return real_.last(key); }
  Result<Done> clear(const ApiKeyHash& key) override { return real_.clear(key); }

 private:
  GateStore& real_;
};

TEST_F(DrainerTest, AGateThatOnlyTheMintSeesHoldsUpNoOtherLane) {
  limits_.concurrency = 1;
  MemoryStore elsewhere;  // what the drainer reads has no gate yet
  Drainer drainer{{.me = {"me"}, .limits = limits_, .doubtful_after = 410s},
                  {store_, elsewhere, transport_, probe_, secrets_, entropy_, clock_, events_}};
  const UtcTime now = clock_.utc_now();
  ASSERT_TRUE(store_.close({.key = secrets_.api_key_hash("gated"),
                            .until = now + 60s,
                            .first_seen = now,
                            .last_seen = now},
                           now));
  admit("a", "gated");
  const ExecutionId open = admit("b", "open");
  EXPECT_EQ(tick(drainer), limits::kReplanDelay);
  ASSERT_EQ(dispatches(), 1U);
  EXPECT_EQ(transport_.started[0].execution, open);
}

TEST_F(DrainerTest, AGateStoreThatIsAwayStallsNobodyAndForgetsNoGateItHasSeen) {
  MemoryStore elsewhere;  // a cache: the mint knows nothing of its gates
  GatesThatFail gates{elsewhere};
  Drainer drainer{{.me = {"me"}, .limits = limits_, .doubtful_after = 410s},
                  {store_, gates, transport_, probe_, secrets_, entropy_, clock_, events_}};
  const UtcTime now = clock_.utc_now();
  ASSERT_TRUE(elsewhere.close({.key = secrets_.api_key_hash("gated"),
                               .until = now + 60s,
                               .first_seen = now,
                               .last_seen = now},
                              now));
  const ExecutionId gated = admit("a", "gated");
  tick(drainer);
  gates.away = true;
  const ExecutionId open = admit("b", "open");
  tick(drainer, 1s);
  EXPECT_TRUE(events_.has("gate_error"));
  ASSERT_EQ(dispatches(), 1U);
  EXPECT_EQ(transport_.started[0].execution, open);
  tick(drainer, 61s);
  ASSERT_EQ(dispatches(), 2U);
  EXPECT_EQ(transport_.started[1].execution, gated);
}

}  // namespace
}  // namespace coderunner
