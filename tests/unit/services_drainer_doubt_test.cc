#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/drainer_stage.h"
#include "tests/support/passing_dispatch.h"

namespace coderunner {
namespace {

TEST_F(DrainerTest, ADispatchThatWasRefusedLeavesTheRowQueuedAndIsTriedAgainByItself) {
  const ExecutionId id = admit("a");
  Drainer drainer = make();
  tick(drainer);
  transport_.break_off(id, true);
  const Millis wait = tick(drainer);
  EXPECT_EQ(status(id), Status::queued);
  EXPECT_EQ(dispatches(), 1U);
  ASSERT_TRUE((*store_.figures()).trouble) << "told at once, not a heartbeat later";
  EXPECT_EQ((*store_.figures()).trouble->until, drainer.status().executor_down_until);
  EXPECT_GT(wait, 0ms);
  EXPECT_LE(wait, 500ms);
  tick(drainer, wait);
  EXPECT_EQ(dispatches(), 2U);
  EXPECT_TRUE(begin(id));
}

TEST_F(DrainerTest, AnExecutorThatIsDownIsProbedWithOneDispatchAtATime) {
  for (const char* account : {"a", "b", "c", "d"}) admit(account);
  Drainer drainer = make();
  tick(drainer);
  ASSERT_EQ(dispatches(), 4U);
  for (const Dispatch& dispatch : std::vector{transport_.started})
    transport_.break_off(dispatch.execution);
  tick(drainer);
  tick(drainer, 30s);
  EXPECT_EQ(dispatches(), 5U);
  tick(drainer, 1s);
  EXPECT_EQ(dispatches(), 5U) << "a second probe beside one that nobody has answered yet";
  ASSERT_TRUE(begin(transport_.started.back().execution));
  tick(drainer, 1s);
  EXPECT_EQ(dispatches(), 8U) << "a row that began proves the executor well, finished or not";
  EXPECT_FALSE(drainer.status().executor_down_until.has_value());
  EXPECT_FALSE((*store_.figures()).trouble);
}

TEST_F(DrainerTest, ARowTheExecutorChokesOnHoldsUpNoOther) {
  const ExecutionId poison = admit("poison");
  limits_.concurrency = 8;
  Drainer drainer = make();
  tick(drainer);
  transport_.break_off(poison);
  tick(drainer);
  std::vector<ExecutionId> others;
  for (const char* account : {"a", "b", "c", "d"}) others.push_back(admit(account));
  tick(drainer, limits::kDispatchBackOffMin);
  ASSERT_EQ(dispatches(), 2U) << "one dispatch tries the executor";
  ASSERT_EQ(transport_.started.back().execution, others.front()) << "and it is another row's";
  ASSERT_TRUE(begin(others.front()));
  tick(drainer, 1ms);
  EXPECT_EQ(dispatches(), 5U);
  for (const ExecutionId other : others) begin(other);

  const auto tries = [&]() -> std::ptrdiff_t {
    return std::ranges::count(transport_.started, poison, &Dispatch::execution);
  };
  for (std::ptrdiff_t again = 1; again <= 8;
       ++again) {  // it fails for ever, and no other waits for that
    for (int step = 0; step < 64 && tries() == again; ++step) {
      finish(others.back());
      others.back() = admit("d");
      ASSERT_TRUE(begins(drainer, others.back())) << "round " << again;
      clock_.advance(500ms);
    }
    ASSERT_EQ(tries(), again + 1);
    transport_.break_off(poison);
    tick(drainer);
    EXPECT_FALSE(drainer.status().executor_down_until) << "others have begun meanwhile";
  }
}

TEST_F(DrainerTest, AProbeThatIsLostOnTheWayHoldsUpTheOthersForOneBackOff) {
  for (const char* account : {"a", "b", "c"}) admit(account);
  limits_.concurrency = 2;
  Drainer drainer = make();
  tick(drainer);
  ASSERT_EQ(dispatches(), 2U);
  for (const Dispatch& dispatch : std::vector{transport_.started})
    transport_.break_off(dispatch.execution, true);
  tick(drainer);
  tick(drainer, 1s);
  ASSERT_EQ(dispatches(), 3U);
  tick(drainer, 29s);
  EXPECT_EQ(dispatches(), 3U);
  tick(drainer, 1s);
  EXPECT_EQ(dispatches(), 4U);
}

TEST_F(DrainerTest, DispatchesThatFailTogetherAreOneFailureOfTheExecutor) {
  for (const char* account : {"a", "b", "c", "d"}) admit(account);
  Drainer drainer = make();
  tick(drainer);
  for (const Dispatch& dispatch : std::vector{transport_.started})
    transport_.break_off(dispatch.execution);
  tick(drainer);
  EXPECT_LE(*drainer.status().executor_down_until - clock_.utc_now(), limits::kDispatchBackOffMin);
}

TEST_F(DrainerTest, AWallClockSetBackKeepsNoExecutorDown) {
  const ExecutionId id = admit("a");
  Drainer drainer = make();
  tick(drainer);
  transport_.break_off(id, true);
  tick(drainer);
  clock_.step_utc(-3h);
  tick(drainer, 1s);
  EXPECT_EQ(dispatches(), 2U);
}

TEST_F(DrainerTest, A503AfterTheNonceWasSpentKeepsTheRunInFlight) {
  limits_.concurrency = 1;
  const ExecutionId id = admit("a");
  admit("b");
  Drainer drainer = make();
  ASSERT_TRUE(begins(drainer, id));
  transport_.answer(id, 503);
  tick(drainer);
  tick(drainer, 60s);
  EXPECT_EQ(status(id), Status::running);
  EXPECT_EQ(dispatches(), 1U);
}

TEST_F(DrainerTest, ASuccessWhoseRowIsStillRunningIsNotBelieved) {
  limits_.concurrency = 1;
  const ExecutionId id = admit("a");
  admit("b");
  Drainer drainer = make();
  ASSERT_TRUE(begins(drainer, id));
  transport_.answer(id, 200);
  tick(drainer);
  EXPECT_EQ(dispatches(), 1U);
  EXPECT_EQ(status(id), Status::running);
}

TEST_F(DrainerTest, ASuccessWhoseRowNeverBeganIsNotBelievedEither) {
  const ExecutionId id = admit("a");
  Drainer drainer = make();
  tick(drainer);
  transport_.answer(id, 200);
  tick(drainer);
  EXPECT_EQ(status(id), Status::queued);
  EXPECT_FALSE(begin(id)) << "the nonce was revoked";
  tick(drainer, 1s);
  EXPECT_EQ(dispatches(), 2U);
}

// Ruling 32: it is in the rows by then, or among the outstanding; never in neither.
TEST_F(DrainerTest, ARunThatBeginsAsItsAnswerIsSettledHoldsItsSlot) {
  struct BeginsAtTheRevoke final : fakes::PassingDispatch {
    using PassingDispatch::PassingDispatch;
    Result<RevokeAnswer> revoke(ExecutionId execution, const BackOff& back_off) override {
      meanwhile();
      return PassingDispatch::revoke(execution, back_off);
    }
    std::function<void()> meanwhile;
  };
  limits_.concurrency = 1;
  const ExecutionId id = admit("a");
  admit("b");
  BeginsAtTheRevoke held{store_};
  held.meanwhile = [&] { EXPECT_TRUE(begin(id)); };
  Drainer drainer{{.me = {"me"}, .limits = limits_, .doubtful_after = 410s},
                  {held, store_, transport_, probe_, secrets_, entropy_, clock_, events_}};
  tick(drainer);
  transport_.answer(id, 409);
  tick(drainer);
  EXPECT_EQ(status(id), Status::running);
  EXPECT_EQ(dispatches(), 1U);
}

TEST_F(DrainerTest, ARunWhoseExecutorIsProvedDeadEnds303AndFreesItsSlotAtOnce) {
  limits_.concurrency = 1;
  const ExecutionId id = admit("a"), next = admit("b");
  Drainer drainer = make();
  ASSERT_TRUE(begins(drainer, id, "killed"));
  probe_.gone.insert({"killed"});
  transport_.break_off(id);
  tick(drainer);
  const Execution row = **store_.execution(id);
  EXPECT_EQ(row.state(), State::killed);
  EXPECT_EQ(row.error_code, 303);
  ASSERT_EQ(dispatches(), 2U);
  EXPECT_EQ(transport_.started.back().execution, next);
}

TEST_F(DrainerTest, ARunProvedDeadListsWhatItHadSent) {
  const ExecutionId id = admit("a");
  Drainer drainer = make();
  ASSERT_TRUE(begins(drainer, id, "killed"));
  LogLine sending;
  sending.call = ApiCall{.method = "POST", .path = "/cards"};
  ASSERT_TRUE(store_.append_log(id, {sending}));
  probe_.gone.insert({"killed"});
  transport_.break_off(id);
  tick(drainer);
  EXPECT_EQ(
      (**store_.execution(id)).error_message,
      "reaped: the executor process (killed) died during the run; it had sent 1: POST /cards: "
      "no answer");
}

TEST_F(DrainerTest, AnAliveExecutorIsGivenItsWallAndThenTheDoubtEnds) {
  limits_.concurrency = 1;
  const ExecutionId id = admit("a");
  Drainer drainer = make();
  ASSERT_TRUE(begins(drainer, id));
  transport_.break_off(id);
  tick(drainer);
  tick(drainer, 409s);
  EXPECT_EQ(status(id), Status::running);
  tick(drainer, 2s);
  EXPECT_EQ((**store_.execution(id)).state(), State::killed);
}

// R18: without a dispatch of its own that ended in doubt the drainer has nothing against a run.
TEST_F(DrainerTest, ALiveRunOfAnEarlierDrainerIsNotEndedForItsAge) {
  const ExecutionId id = admit("a");
  {
    Drainer killed = make("before");
    ASSERT_TRUE(begins(killed, id));
  }
  Drainer next = make("after");
  for (int minute = 0; minute < 60; ++minute) tick(next, 1min);
  EXPECT_EQ(status(id), Status::running);
}

TEST_F(DrainerTest, AWallClockThatJumpsEndsNoDoubt) {
  limits_.concurrency = 1;
  const ExecutionId id = admit("a");
  Drainer drainer = make();
  ASSERT_TRUE(begins(drainer, id));
  transport_.break_off(id);
  tick(drainer);
  clock_.step_utc(24h);
  tick(drainer, 1s);
  EXPECT_EQ(status(id), Status::running);
}

// The request travelled for most of its nonce's life: its run is not as old as its dispatch.
TEST_F(DrainerTest, ADoubtfulRunIsGivenItsWallFromItsBeginNotFromItsDispatch) {
  const ExecutionId id = admit("a");
  Drainer drainer = make();
  tick(drainer);
  tick(drainer, 290s);
  ASSERT_TRUE(begin(id));
  tick(drainer, 1s);
  transport_.break_off(id);
  tick(drainer, 125s);
  EXPECT_EQ(status(id), Status::running);
  tick(drainer, 284s);
  EXPECT_EQ(status(id), Status::running);
  tick(drainer, 2s);
  EXPECT_EQ((**store_.execution(id)).state(), State::killed);
}

TEST_F(DrainerTest, ARunProvedDeadFreesItsSlotBeforeItsAnswerComes) {
  limits_.concurrency = 1;
  const ExecutionId id = admit("a"), next = admit("b");
  Drainer drainer = make();
  ASSERT_TRUE(begins(drainer, id, "killed"));
  probe_.gone.insert({"killed"});
  tick(drainer, 1s);
  EXPECT_EQ((**store_.execution(id)).state(), State::killed);
  EXPECT_EQ(transport_.started.back().execution, next);
  transport_.break_off(id);
  tick(drainer, 1s);
  EXPECT_EQ(drainer.status().outstanding, 1) << "a late answer is nobody's";
}

TEST_F(DrainerTest, AFinishedRowIsNeverTouchedByALateDoubt) {
  const ExecutionId id = admit("a");
  Drainer drainer = make();
  ASSERT_TRUE(begins(drainer, id, "killed"));
  ASSERT_EQ(*store_.finish(id, run_of(id), {}, clock_.utc_now()), FinishAnswer::finished);
  probe_.gone.insert({"killed"});
  transport_.break_off(id);
  tick(drainer);
  EXPECT_EQ(status(id), Status::success);
}

}  // namespace
}  // namespace coderunner
