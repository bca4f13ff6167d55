#include "tests/contract/backend.h"
#include "tests/contract/sqlite_files.h"

namespace coderunner::contract {
namespace {

using namespace std::chrono_literals;

TEST_P(StoreContract, ABeginSpendsTheNonceAndHandsOverWhatTheRunNeeds) {
  NewExecution fresh = StoreContract::fresh("acme", "k1", 0ms);
  fresh.payload = "[1]";
  fresh.identifier = "id";
  fresh.debug = true;
  const Admitted admitted = *admit_and_wait(store->admission(), fresh);
  mint(admitted, "n1");
  const auto answer = begin(admitted.job, "n1", "run1", kNoon + 3ms);
  ASSERT_FALSE(refused(answer));
  const Begun& begun = std::get<Begun>(answer);
  EXPECT_EQ(begun.execution, admitted.execution);
  EXPECT_EQ(begun.account, "acme");
  EXPECT_EQ(begun.key, ApiKeyHash{"k1"});
  EXPECT_EQ(begun.sealed_key, "sealed-k1");
  EXPECT_EQ(begun.source, fresh.source);
  EXPECT_EQ(begun.payload, "[1]");
  EXPECT_EQ(begun.identifier, "id");
  EXPECT_TRUE(begun.debug);

  const Execution row = this->row(admitted.execution);
  EXPECT_EQ(row.state(), State::running);
  EXPECT_EQ(row.started_at, kNoon + 3ms);
  EXPECT_EQ(row.run, RunId{"run1"});
  EXPECT_EQ(row.executor, ExecutorId{"host|boot|1|2|3"});
}

TEST_P(StoreContract, ASecondBeginWithTheSameNonceIsRefused) {
  const Admitted admitted = run("acme", "run1");
  EXPECT_TRUE(refused(begin(admitted.job, "nonce-run1", "run2")));
  EXPECT_EQ(row(admitted.execution).run, RunId{"run1"});
}

TEST_P(StoreContract, ABeginWithoutAMintIsRefused) {
  const Admitted admitted = admit("acme", "k1");
  EXPECT_TRUE(refused(begin(admitted.job, "n1", "run1")));
  EXPECT_TRUE(refused(begin(admitted.job, "", "run1")));
  EXPECT_EQ(row(admitted.execution).state(), State::queued);
}

TEST_P(StoreContract, AWrongNonceIsRefusedAndSpendsNothing) {
  const Admitted admitted = admit("acme", "k1");
  mint(admitted, "n1");
  EXPECT_TRUE(refused(begin(admitted.job, "n2", "run1")));
  EXPECT_EQ(row(admitted.execution).state(), State::queued);
  EXPECT_EQ(row(admitted.execution).run, std::nullopt);
  EXPECT_FALSE(refused(begin(admitted.job, "n1", "run2")));
}

TEST_P(StoreContract, AnotherJobsNonceIsRefused) {
  const Admitted mine = admit("acme", "k1");
  const Admitted other = admit("acme", "k1");
  mint(mine, "n1");
  mint(other, "n2");
  EXPECT_TRUE(refused(begin(mine.job, "n2", "run1")));
}

TEST_P(StoreContract, ANewMintMakesTheOldNonceWorthless) {
  const Admitted admitted = admit("acme", "k1");
  mint(admitted, "n1");
  mint(admitted, "n2");
  EXPECT_TRUE(refused(begin(admitted.job, "n1", "run1")));
  EXPECT_FALSE(refused(begin(admitted.job, "n2", "run1")));
}

TEST_P(StoreContract, ANonceLives300SecondsFromItsMint) {
  const Admitted old = admit("acme", "k1");
  mint(old, "n1", kNoon);
  EXPECT_TRUE(refused(begin(old.job, "n1", "run1", kNoon + 300s + 1ms)));
  EXPECT_EQ(row(old.execution).state(), State::queued);
  EXPECT_FALSE(refused(begin(old.job, "n1", "run1", kNoon + 300s)));
}

TEST_P(StoreContract, AnUnknownJobIsRefused) { EXPECT_TRUE(refused(begin({9999}, "n1", "run1"))); }

TEST_P(StoreContract, AFinishWritesTheOutcomeAndScrubsTheKey) {
  const Admitted admitted = run("acme", "run1");
  EXPECT_EQ(*store->ledger().finish(admitted.execution, {"run1"},
                                    {ErrorCode::script_error, "line 3: boom"}, kNoon + 9ms),
            FinishAnswer::finished);
  const Execution row = this->row(admitted.execution);
  EXPECT_EQ(row.state(), State::failed);
  EXPECT_EQ(row.error_code, 301);
  EXPECT_EQ(row.error_message, "line 3: boom");
  EXPECT_EQ(row.finished_at, kNoon + 9ms);
  EXPECT_EQ(store->sealed_key(admitted.job), std::nullopt);
}

TEST_P(StoreContract, ASuccessHasNoCodeAndNoMessage) {
  const Admitted admitted = run("acme", "run1");
  ASSERT_TRUE(store->ledger().finish(admitted.execution, {"run1"}, {}, kNoon));
  const Execution row = this->row(admitted.execution);
  EXPECT_EQ(row.state(), State::succeeded);
  EXPECT_FALSE(row.error_code || row.error_message);
}

TEST_P(StoreContract, ASecondFinishIsNotThisRunAndChangesNothing) {
  const Admitted admitted = run("acme", "run1");
  ASSERT_TRUE(store->ledger().finish(admitted.execution, {"run1"}, {}, kNoon));
  EXPECT_EQ(
      *store->ledger().finish(admitted.execution, {"run1"}, {ErrorCode::fatal, "late"}, kNoon + 1s),
      FinishAnswer::not_this_run);
  EXPECT_EQ(row(admitted.execution).state(), State::succeeded);
  EXPECT_EQ(row(admitted.execution).finished_at, kNoon);
}

TEST_P(StoreContract, AFinishWithAnotherRunIdOrBeforeBeginIsNotThisRun) {
  const Admitted running = run("acme", "run1");
  const Admitted queued = admit("acme", "k1");
  auto& ledger = store->ledger();
  EXPECT_EQ(*ledger.finish(running.execution, {"run2"}, {}, kNoon), FinishAnswer::not_this_run);
  EXPECT_EQ(*ledger.finish(queued.execution, {"run1"}, {}, kNoon), FinishAnswer::not_this_run);
  EXPECT_EQ(*ledger.finish({9999}, {"run1"}, {}, kNoon), FinishAnswer::not_this_run);
  EXPECT_EQ(row(running.execution).state(), State::running);
  EXPECT_NE(store->sealed_key(running.job), std::nullopt);
}

TEST_P(StoreContract, AnOverlongOrMalformedMessageIsCutAndMadeReadable) {
  const Admitted admitted = run("acme", "run1");
  const std::string huge(limits::kMaxErrorMessageBytes * 2, 'x');
  ASSERT_TRUE(store->ledger().finish(admitted.execution, {"run1"},
                                     {ErrorCode::script_error, "\xFF" + huge}, kNoon));
  const auto message = row(admitted.execution).error_message;
  EXPECT_EQ(message->size(), limits::kMaxErrorMessageBytes);
  EXPECT_TRUE(is_valid_utf8(*message));
}

TEST_P(StoreContract, LogLinesComeBackInOrderAndInPages) {
  const Admitted admitted = run("acme", "run1");
  const Admitted other = run("acme", "run2");
  const ApiCall call{"POST", "/cards?x=\"1\"", 201, 12ms, 2, 29};
  ApiCall unanswered;
  unanswered.method = "PUT";
  unanswered.path = "/cards/1";
  auto& ledger = store->ledger();
  ASSERT_TRUE(ledger.append_log(
      admitted.execution, {{{}, kNoon, "info", "one", {}}, {{}, kNoon, "debug", "two", call}}));
  ASSERT_TRUE(ledger.append_log(other.execution, {{{}, kNoon, "info", "elsewhere", {}}}));
  ASSERT_TRUE(
      ledger.append_log(admitted.execution, {{{}, kNoon + 1ms, "warn", "three \xFF", unanswered}}));
  ASSERT_TRUE(ledger.append_log(admitted.execution, {}));

  const auto first = *store->view().logs(admitted.execution, {0}, 2);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].message, "one");
  EXPECT_EQ(first[0].call, std::nullopt);
  EXPECT_EQ(first[1].level, "debug");
  EXPECT_EQ(first[1].call, call);
  const auto rest = *store->view().logs(admitted.execution, first[1].id, 2);
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].message, "three \xEF\xBF\xBD");
  EXPECT_EQ(rest[0].at, kNoon + 1ms);
  EXPECT_EQ(rest[0].call, unanswered);
  EXPECT_TRUE(store->view().logs(admitted.execution, rest[0].id, 2)->empty());
}

TEST_P(StoreContract, AnAnnouncementIsKeptWhileTheRowIsThisRuns) {
  const Admitted admitted = run("acme", "run1");
  auto& ledger = store->ledger();
  EXPECT_EQ(
      *ledger.announce(admitted.execution, {"run1"},
                       {{{}, kNoon, "info", "before", {}}, {{}, kNoon, "info", "sending", {}}}),
      AnnounceAnswer::announced);
  const auto lines = *store->view().logs(admitted.execution, {0}, 9);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1].message, "sending");
}

TEST_P(StoreContract, AnAnnouncementOfARunThatHasEndedOrIsNotTheRowsIsNotKept) {
  const Admitted reaped = run("acme", "run1");
  const Admitted running = run("acme", "run2");
  const Admitted queued = admit("acme", "k1");
  auto& ledger = store->ledger();
  ASSERT_TRUE(*store->dispatch().abandon(reaped.execution, RunId{"run1"}, "reaped", kNoon));
  const std::vector<LogLine> lines{{{}, kNoon, "info", "sending", {}}};
  const auto answer = [&](ExecutionId execution, const char* run_id) {
    return *ledger.announce(execution, {run_id}, lines);
  };
  EXPECT_EQ(answer(reaped.execution, "run1"), AnnounceAnswer::not_this_run);
  EXPECT_EQ(answer(running.execution, "run1"), AnnounceAnswer::not_this_run);
  EXPECT_EQ(answer(queued.execution, "run1"), AnnounceAnswer::not_this_run);
  EXPECT_EQ(answer({9999}, "run1"), AnnounceAnswer::not_this_run);
  for (const ExecutionId execution : {reaped.execution, running.execution, queued.execution})
    EXPECT_TRUE(store->view().logs(execution, {0}, 9)->empty());
}

}  // namespace
}  // namespace coderunner::contract
