#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "services/drainer.h"
#include "sim/memory_store.h"
#include "tests/support/fakes.h"
#include "tests/support/passing_dispatch.h"

namespace coderunner {
namespace {

using namespace std::chrono_literals;

// A drainer over the memory store, and the executor's moves by hand.
class DrainerTest : public ::testing::Test {
 protected:
  ExecutionId admit(const std::string& account, const std::string& key = {}) {
    Admitted admitted;
    store_.admit(
        {.ref = {"ref" + std::to_string(++refs_)},
         .account = account,
         .account_id = secrets_.account_id(account),
         .key = secrets_.api_key_hash(key.empty() ? account : key),
         .sealed_key = secrets_.seal("k"),
         .source = "return",
         .queued_at = clock_.utc_now()},
        [&](const Result<AdmitAnswer>& answer) { admitted = std::get<Admitted>(*answer); });
    return admitted.execution;
  }

  Drainer make(std::string me = "me") {
    return Drainer{{.me = {std::move(me)}, .limits = limits_, .doubtful_after = 410s},
                   {store_, store_, transport_, probe_, secrets_, entropy_, clock_, events_}};
  }

  // The executor spends the nonce of the latest dispatch of `execution`.
  bool begin(ExecutionId execution, const std::string& executor = "worker") {
    for (auto at = transport_.started.rbegin(); at != transport_.started.rend(); ++at)
      if (at->execution == execution) {
        const auto begun = store_.begin({.job = at->job,
                                         .nonce = secrets_.nonce_hash(at->nonce),
                                         .run = run_of(execution),
                                         .executor = {executor},
                                         .now = clock_.utc_now()});
        return begun && std::holds_alternative<Begun>(*begun);
      }
    return false;
  }
  // The drainer's next tick hands it over and the executor takes it.
  bool begins(Drainer& drainer, ExecutionId execution, const std::string& executor = "worker") {
    tick(drainer);
    return begin(execution, executor);
  }
  void finish(ExecutionId execution) {
    ASSERT_EQ(*store_.finish(execution, run_of(execution), {}, clock_.utc_now()),
              FinishAnswer::finished);
    transport_.answer(execution, 200);
  }
  static RunId run_of(ExecutionId execution) { return {"run" + std::to_string(execution.value)}; }

  Status status(ExecutionId execution) { return (**store_.execution(execution)).status; }
  std::size_t dispatches() const { return transport_.started.size(); }

  Millis tick(Drainer& drainer, Millis later = 0ms) {
    clock_.advance(later);
    return drainer.tick();
  }

  int refs_ = 0;
  PlanLimits limits_;
  MemoryStore store_;
  fakes::HeldTransport transport_;
  fakes::ToldProbe probe_;
  fakes::PlainSecrets secrets_;
  fakes::CountingEntropy entropy_;
  fakes::TurnedClock clock_;
  fakes::RecordedEvents events_;
};

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
