#include <gtest/gtest.h>

#include <functional>

#include "services/reaper.h"
#include "sim/memory_store.h"
#include "tests/support/fakes.h"

namespace coderunner {
namespace {

using namespace std::chrono_literals;

constexpr Millis kDay = 24h;

// What happens between the reaper's reading and its write.
class HeldStore final : public ReaperStore {
 public:
  explicit HeldStore(ReaperStore& store) : store_(store) {}
  Result<std::vector<RunningRow>> running() override { return store_.running(); }
  Result<bool> abandon(ExecutionId execution, const std::optional<RunId>& run,
                       const std::string& message, UtcTime now) override {
    meanwhile();
    return store_.abandon(execution, run, message, now);
  }
  Result<std::vector<OldQueuedRow>> queued_before(UtcTime cutoff, UtcTime now, int limit) override {
    return store_.queued_before(cutoff, now, limit);
  }
  Result<bool> end_never_dispatched(const NeverDispatched& verdict) override {
    meanwhile();
    return store_.end_never_dispatched(verdict);
  }
  Result<std::optional<UtcTime>> last_tick() override { return store_.last_tick(); }
  Result<int> scrub_keys(UtcTime before, int most) override {
    ++scrubs;
    return store_.scrub_keys(before, most);
  }
  Result<int> forget_idempotency_keys(UtcTime before, int most) override {
    return store_.forget_idempotency_keys(before, most);
  }
  Result<int> purge_audit(UtcTime before, int most) override {
    return store_.purge_audit(before, most);
  }
  Result<int> forget_gates(UtcTime opened_before, int most) override {
    return store_.forget_gates(opened_before, most);
  }
  Result<std::optional<UtcTime>> newest_queued_at() override { return store_.newest_queued_at(); }
  Result<Purged> purge(const PurgeBatch& batch) override {
    ++purges;
    return store_.purge(batch);
  }
  Result<Done> record_sweep(UtcTime now) override { return store_.record_sweep(now); }

  std::function<void()> meanwhile = [] {};
  int scrubs = 0;
  int purges = 0;

 private:
  ReaperStore& store_;
};

class ToldEvents final : public Events {
 public:
  void record(const Event& event) override {
    std::string line{event.name};
    for (const auto& [name, value] : event.fields)
      if (name == "kind" || name == "keys" || name == "rows") line += " " + value;
    lines.push_back(line);
    levels.push_back(event.level);
  }
  int count(const std::string& line) const {
    return static_cast<int>(std::count(lines.begin(), lines.end(), line));
  }
  std::optional<Level> level_of(const std::string& line) const {
    const auto at = std::find(lines.begin(), lines.end(), line);
    if (at == lines.end()) return std::nullopt;
    return levels.at(static_cast<std::size_t>(at - lines.begin()));
  }
  std::vector<std::string> lines;
  std::vector<Level> levels;
};

class ReaperTest : public ::testing::Test {
 protected:
  Admitted admit(const std::string& account) {
    Admitted admitted;
    store_.admit(
        {.ref = {"ref" + std::to_string(++refs_)},
         .account = account,
         .account_id = {account},
         .key = ApiKeyHash{"key of " + account},
         .sealed_key = "sealed",
         .source = "return",
         .queued_at = clock_.utc_now()},
        [&](const Result<AdmitAnswer>& answer) { admitted = std::get<Admitted>(*answer); });
    return admitted;
  }
  bool begin(const Admitted& row) {
    const UtcTime now = clock_.utc_now();
    const std::string number = std::to_string(row.execution.value);
    if (*store_.mint({row.execution, row.job, {"n" + number}, {"d"}, now}) != MintAnswer::minted)
      return false;
    const auto begun =
        store_.begin({row.job, {"n" + number}, run_of(row), {"worker " + number}, now});
    return begun && std::holds_alternative<Begun>(*begun);
  }
  Admitted running(const std::string& account) {
    const Admitted row = admit(account);
    EXPECT_TRUE(begin(row));
    return row;
  }
  static RunId run_of(const Admitted& row) { return {"run" + std::to_string(row.execution.value)}; }
  void finish(const Admitted& row) {
    ASSERT_EQ(*store_.finish(row.execution, run_of(row), {}, clock_.utc_now()),
              FinishAnswer::finished);
  }
  void kill(const Admitted& row) {
    probe_.gone.insert({"worker " + std::to_string(row.execution.value)});
  }
  void gate(const std::string& account, Millis length) {
    const UtcTime now = clock_.utc_now();
    ASSERT_TRUE(store_.close({{"key of " + account}, now + length, now, now, length}, now));
  }

  State state(const Admitted& row) { return (**store_.execution(row.execution)).state(); }
  bool exists(const Admitted& row) { return store_.execution(row.execution)->has_value(); }

  // As the loop does it: tick, wait as long as it said.
  void watch(Reaper& reaper, Millis length) {
    const MonoTime end = clock_.mono_now() + length;
    for (int i = 0; i < 100'000 && clock_.mono_now() < end; ++i) {
      const Millis left = std::chrono::ceil<Millis>(end - clock_.mono_now());
      clock_.advance(std::clamp(reaper.tick(), 1ms, left));
    }
    reaper.tick();
  }
  void away(bool is_away) {
    store_.fail_with(is_away ? std::optional{fail(Failure::unavailable, "away")} : std::nullopt);
  }
  Reaper make() { return Reaper{limits_, {held_, probe_, clock_, events_}}; }

  int refs_ = 0;
  ReaperLimits limits_;
  MemoryStore store_;
  HeldStore held_{store_};
  fakes::ToldProbe probe_;
  fakes::TurnedClock clock_;
  ToldEvents events_;
};

// ---- a running row whose executor is proved gone

TEST_F(ReaperTest, ARunProvedDeadIsLeftToThoseWhoKnowMoreAndThenEnded) {
  const Admitted row = running("a");
  kill(row);
  Reaper reaper = make();
  watch(reaper, limits::kProofGrace - 1s);
  EXPECT_EQ(state(row), State::running);
  watch(reaper, 10s);
  EXPECT_EQ(state(row), State::killed);
  EXPECT_EQ((**store_.execution(row.execution)).error_message,
            "reaped: the executor process (worker 1) died during the run; it had sent no change");
  EXPECT_EQ(events_.count("reaped killed"), 1);
}

TEST_F(ReaperTest, ItSaysWhatTheRunHadSent) {
  const Admitted row = running("a");
  LogLine sending;
  sending.call = ApiCall{.method = "POST", .path = "/cards"};
  ASSERT_TRUE(store_.append_log(row.execution, {sending}));
  kill(row);
  Reaper reaper = make();
  watch(reaper, 20s);
  EXPECT_EQ(
      (**store_.execution(row.execution)).error_message,
      "reaped: the executor process (worker 1) died during the run; it had sent 1: POST /cards: no "
      "answer");
}

TEST_F(ReaperTest, ARunThatFinishesBetweenReadAndWriteKeepsItsSuccess) {  // R16
  const Admitted row = running("a");
  kill(row);
  held_.meanwhile = [&] { finish(row); };
  Reaper reaper = make();
  watch(reaper, 20s);
  EXPECT_EQ(state(row), State::succeeded);
  EXPECT_EQ(events_.count("reaped killed"), 0);
}

TEST_F(ReaperTest, AProofThatDoesNotStandIsForgotten) {  // a probe that failed to read /proc
  const Admitted row = running("a");
  kill(row);
  Reaper reaper = make();
  watch(reaper, 6s);
  probe_.gone.clear();
  watch(reaper, 6s);
  kill(row);
  watch(reaper, limits::kProofGrace - 1s);
  EXPECT_EQ(state(row), State::running);
}

// ---- a running row by its age

TEST_F(ReaperTest, ARunIsReapedByAgeOnceThisReaperHasWatchedItThatLong) {
  const Admitted row = running("a");
  clock_.advance(kDay);  // before this reaper started
  Reaper reaper = make();
  watch(reaper, limits_.running_after);
  EXPECT_EQ(state(row), State::running) << "counted anew after a start";
  watch(reaper, 10s);
  EXPECT_EQ(state(row), State::killed);
  EXPECT_EQ(events_.level_of("reaped killed"), Level::error);
  EXPECT_EQ((**store_.execution(row.execution)).error_message,
            "reaped: still running after 15m, and nobody ended it; it had sent no change");
}

TEST_F(ReaperTest, AWatchedRunIsNotReapedWhileItsStoredAgeIsYoung) {
  const Admitted row = running("a");
  clock_.step_utc(-10min);  // it began in what is now the future, but not for long
  Reaper reaper = make();
  watch(reaper, limits_.running_after + 10s);
  EXPECT_EQ(state(row), State::running);
}

TEST_F(ReaperTest, ARunBegunUnderAClockAYearAheadIsReapedByTheWatchAlone) {
  const Admitted row = running("a");
  clock_.step_utc(-365 * kDay);
  Reaper reaper = make();
  watch(reaper, limits_.running_after);
  EXPECT_EQ(state(row), State::running);
  watch(reaper, 10s);
  EXPECT_EQ(state(row), State::killed);
}

TEST_F(ReaperTest, AWallClockThatJumpsForwardReapsNoLiveRun) {
  const Admitted row = running("a");
  Reaper reaper = make();
  watch(reaper, limits_.running_after - 10s);
  clock_.step_utc(24h * 365);
  watch(reaper, limits_.running_after);
  EXPECT_EQ(state(row), State::running) << "the watch counts anew after a jump";
  EXPECT_EQ(events_.count("clock_jumped"), 1);
  watch(reaper, 10s);
  EXPECT_EQ(state(row), State::killed);
}

TEST_F(ReaperTest, SmallStepsThatAddUpAreAJumpToo) {
  const Admitted row = running("a");
  Reaper reaper = make();
  watch(reaper, limits_.running_after - 10s);
  for (int i = 0; i < 3; ++i) {
    clock_.step_utc(2s);
    watch(reaper, 5s);
  }
  EXPECT_EQ(events_.count("clock_jumped"), 1);
  watch(reaper, limits_.running_after - 10s);
  EXPECT_EQ(state(row), State::running);
}

TEST_F(ReaperTest, AnOutageOfTheStoreMakesTheWatchCountAnew) {
  const Admitted row = running("a");
  Reaper reaper = make();
  watch(reaper, limits_.running_after - 10s);
  away(true);
  watch(reaper, 20s);
  away(false);
  watch(reaper, limits_.running_after - 10s);
  EXPECT_EQ(state(row), State::running);
  watch(reaper, 20s);
  EXPECT_EQ(state(row), State::killed);
}

TEST_F(ReaperTest, AReaperThatWasStoppedItselfHasWatchedNothing) {
  const Admitted row = running("a");
  Reaper reaper = make();
  watch(reaper, 10s);
  clock_.advance(limits_.running_after + 1min);  // SIGSTOP
  watch(reaper, 10s);
  EXPECT_EQ(state(row), State::running);
}

TEST_F(ReaperTest, ALongRunInsideItsLimitIsNeverTouched) {  // R18
  const Admitted row = running("a");
  Reaper reaper = make();
  watch(reaper, limits_.running_after - 1min);
  finish(row);
  watch(reaper, kDay);
  EXPECT_EQ(state(row), State::succeeded);
}

// ---- queued rows

TEST_F(ReaperTest, AQueuedRowIsStillQueuedAfterDaysWhileADrainerTicks) {  // R76, R77
  const Admitted row = admit("a");
  Reaper reaper = make();
  for (int hour = 0; hour < 72; ++hour) {
    ASSERT_TRUE(store_.heartbeat({{"d"}, clock_.utc_now()}));
    watch(reaper, 1h);
  }
  EXPECT_EQ(state(row), State::queued);
  EXPECT_EQ(store_.sealed_key(row.job), "sealed");
}

TEST_F(ReaperTest, WithoutADrainerForADayItEndsNeverDispatchedAndLoudly) {
  const Admitted row = admit("a");
  ASSERT_TRUE(store_.heartbeat({{"dead"}, clock_.utc_now()}));
  Reaper reaper = make();
  watch(reaper, limits_.queued_after);
  EXPECT_EQ(state(row), State::queued);
  watch(reaper, 10s);
  EXPECT_EQ(state(row), State::never_dispatched);
  EXPECT_TRUE((**store_.execution(row.execution)).error_message->starts_with("never dispatched: "));
  EXPECT_EQ(events_.level_of("reaped never_dispatched"), Level::error);
}

TEST_F(ReaperTest, ADrainerThatNeverTickedIsNoDrainerEither) {
  const Admitted row = admit("a");
  Reaper reaper = make();
  watch(reaper, limits_.queued_after + 10s);
  EXPECT_EQ(state(row), State::never_dispatched);
}

TEST_F(ReaperTest, AQueueThatWasDownForADayIsDispatchedNotReaped) {
  const Admitted row = admit("a");
  ASSERT_TRUE(store_.heartbeat({{"d"}, clock_.utc_now()}));
  clock_.advance(2 * kDay);  // everything was off
  Reaper reaper = make();
  watch(reaper, 1min);
  ASSERT_TRUE(store_.heartbeat({{"d"}, clock_.utc_now()}));
  watch(reaper, limits_.queued_after - 1min);
  EXPECT_EQ(state(row), State::queued);
}

TEST_F(ReaperTest, OnlyRowsOlderThanTheLimitGo) {
  const Admitted old = admit("a");
  Reaper reaper = make();
  watch(reaper, 1h);
  const Admitted young = admit("b");
  watch(reaper, limits_.queued_after - 30min);
  EXPECT_EQ(state(old), State::never_dispatched);
  EXPECT_EQ(state(young), State::queued);
}

TEST_F(ReaperTest, AGatedRowWaitsForItsGateAndKeepsItsKey) {
  const Admitted row = admit("a");
  Reaper reaper = make();
  watch(reaper, kDay - 10min);
  gate("a", 1h);
  watch(reaper, 30min);
  EXPECT_EQ(state(row), State::queued);
  EXPECT_EQ(store_.sealed_key(row.job), "sealed");
  watch(reaper, 1h);
  EXPECT_EQ(state(row), State::never_dispatched);
}

TEST_F(ReaperTest, APausedRowWaitsForItsAccount) {
  const Admitted row = admit("a");
  store_.pause_account({"a"});
  Reaper reaper = make();
  watch(reaper, 2 * kDay);
  EXPECT_EQ(state(row), State::queued);
}

TEST_F(ReaperTest, ADrainerThatComesBackBetweenReadAndWriteKeepsTheRow) {  // R16
  const Admitted row = admit("a");
  held_.meanwhile = [&] { ASSERT_TRUE(store_.heartbeat({{"back"}, clock_.utc_now()})); };
  Reaper reaper = make();
  watch(reaper, limits_.queued_after + 10s);
  EXPECT_EQ(state(row), State::queued);
  EXPECT_EQ(events_.count("reaped never_dispatched"), 0);
}

TEST_F(ReaperTest, ARowThatBeginsBetweenReadAndWriteRuns) {  // R16
  const Admitted row = admit("a");
  held_.meanwhile = [&] { ASSERT_TRUE(begin(row)); };
  Reaper reaper = make();
  watch(reaper, limits_.queued_after + 10s);
  EXPECT_EQ(state(row), State::running);
}

TEST_F(ReaperTest, AWallClockThatJumpsADayForwardReapsNoQueuedRow) {
  const Admitted row = admit("a");
  ASSERT_TRUE(store_.heartbeat({{"d"}, clock_.utc_now()}));
  Reaper reaper = make();
  watch(reaper, 1min);
  clock_.step_utc(10 * kDay);
  watch(reaper, limits_.queued_after - 1min);
  EXPECT_EQ(state(row), State::queued);
}

TEST_F(ReaperTest, AfterASleepTheDrainerTicksFirst) {
  const Admitted row = admit("a");
  ASSERT_TRUE(store_.heartbeat({{"d"}, clock_.utc_now()}));
  Reaper reaper = make();
  watch(reaper, 1min);
  clock_.advance(2 * kDay);  // the whole process was stopped
  watch(reaper, 1min);
  EXPECT_EQ(state(row), State::queued);
}

// ---- keys

TEST_F(ReaperTest, AKeyIsScrubbedTwoHoursAfterTheStartAndIsToldAsAFault) {
  const Admitted row = store_.plant({.account = "a",
                                     .account_id = AccountId{"a"},
                                     .status = "success",
                                     .queued_at = clock_.utc_now() - 1h,
                                     .started_at = clock_.utc_now() - 1h,
                                     .finished_at = clock_.utc_now() - 1h,
                                     .sealed_key = "sealed"});
  Reaper reaper = make();
  watch(reaper, 59min);
  EXPECT_EQ(store_.sealed_key(row.job), "sealed");
  watch(reaper, 3min);
  EXPECT_EQ(store_.sealed_key(row.job), std::nullopt);
  EXPECT_EQ(events_.level_of("reaped scrubbed 1"), Level::warn);
}

TEST_F(ReaperTest, AKeyThatWaitsForItsGateForHoursIsNotScrubbed) {
  const Admitted row = admit("a");
  gate("a", 10h);
  Reaper reaper = make();
  for (int minute = 0; minute < 8 * 60; minute += 30) {
    ASSERT_TRUE(store_.heartbeat({{"d"}, clock_.utc_now()}));
    watch(reaper, 30min);
  }
  EXPECT_EQ(store_.sealed_key(row.job), "sealed");
}

// ---- the purge

TEST_F(ReaperTest, FinishedRowsGoAfterNinetyDaysAndParkedOnesStay) {
  const Admitted ended = running("a");
  finish(ended);
  const Admitted parked = admit("b");
  store_.pause_account({"b"});
  clock_.advance(89 * kDay);
  const Admitted lately = admit("c");
  Reaper reaper = make();
  watch(reaper, 5min);
  EXPECT_TRUE(exists(ended));
  clock_.advance(1 * kDay);
  admit("c");
  watch(reaper, 5min);
  EXPECT_FALSE(exists(ended));
  EXPECT_TRUE(exists(parked) && exists(lately));
  EXPECT_EQ(events_.level_of("reaped purged 1"), Level::info);
}

TEST_F(ReaperTest, OperatorsActsAndGatesGoWithTheRowsOfTheirTime) {
  ASSERT_TRUE(store_.pause(Act{"loopback", clock_.utc_now()}, std::nullopt));
  ASSERT_TRUE(store_.resume(Act{"loopback", clock_.utc_now()}, std::nullopt));
  gate("a", 1min);
  admit("a");
  Reaper reaper = make();
  clock_.advance(90 * kDay - 10min);
  admit("b");
  watch(reaper, 5min);
  EXPECT_EQ(store_.audit().size(), 2U);
  EXPECT_TRUE(*store_.last({"key of a"}));
  clock_.advance(10min);
  watch(reaper, 5min);
  EXPECT_TRUE(store_.audit().empty());
  EXPECT_FALSE(*store_.last({"key of a"}));
  EXPECT_EQ(events_.level_of("reaped purged_audit 2"), Level::info);
}

TEST_F(ReaperTest, AGateIsRememberedForADayHoweverSoonRowsGo) {
  gate("a", 1min);
  admit("b");
  limits_.purge_after = 1min;
  Reaper reaper = make();
  watch(reaper, 2h);
  EXPECT_TRUE(*store_.last({"key of a"}));
}

TEST_F(ReaperTest, AClockAtTheWrongYearPurgesNothing) {
  const Admitted ended = running("a");
  finish(ended);
  clock_.step_utc(24h * 3650);
  Reaper reaper = make();
  watch(reaper, 5min);
  EXPECT_TRUE(exists(ended));
}

TEST_F(ReaperTest, AnIdleReaperReadsLittleAndABusyOneLeavesGaps) {
  for (int i = 0; i < 3 * limits::kPurgedAtOnce; ++i)
    store_.plant({.account = "a",
                  .status = "success",
                  .queued_at = clock_.utc_now() - 100 * kDay,
                  .started_at = clock_.utc_now() - 100 * kDay,
                  .finished_at = clock_.utc_now() - 100 * kDay});
  admit("b");
  Reaper reaper = make();
  EXPECT_EQ(reaper.tick(), limits::kBatchGap);
  EXPECT_EQ(events_.count("reaped purged 50"), 1) << "one batch, then the writers' turn";
  watch(reaper, 2s);
  EXPECT_EQ(events_.count("reaped purged 50"), 3);
  const int purges = held_.purges;
  watch(reaper, 10min);
  EXPECT_LE(held_.purges - purges, 11);
}

// ---- the store

TEST_F(ReaperTest, AStoreThatIsAwayIsToldOnceAnOutage) {
  Reaper reaper = make();
  watch(reaper, 1min);
  away(true);
  watch(reaper, 5min);
  EXPECT_EQ(events_.count("sweep_failed"), 1);
  EXPECT_EQ(events_.count("sweep_resumed"), 0);
  away(false);
  watch(reaper, 1min);
  EXPECT_EQ(events_.count("sweep_resumed"), 1);
  away(true);
  watch(reaper, 1min);
  EXPECT_EQ(events_.count("sweep_failed"), 2);
}

TEST_F(ReaperTest, EachSweepLeavesItsMark) {
  Reaper reaper = make();
  watch(reaper, 1min);
  ASSERT_TRUE(store_.last_sweep().has_value());
  EXPECT_LE(clock_.utc_now() - *store_.last_sweep(), limits::kSweepInterval);
}

}  // namespace
}  // namespace coderunner
