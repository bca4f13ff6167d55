// The judge can fail: each of its invariants is broken here once, by hand, and is named.
#include "sim/judge.h"

#include <gtest/gtest.h>

#include "sim/stand_ins.h"

namespace coderunner::sim {
namespace {

using namespace std::chrono_literals;

constexpr UtcTime kNow{1'787'573'280'000ms};

class JudgeTest : public ::testing::Test {
 protected:
  using Planted = MemoryStore::Planted;

  JudgeTest() {
    scenario_.settings.concurrency = 2;
    scenario_.settings.per_account = 1;
    scenario_.settings.wall = 20s;
  }

  static Planted row(const std::string& status, const std::string& run = {}) {
    Planted row{.account = "a"};
    row.account_id = AccountId{"account:a"};
    row.key = ApiKeyHash{"key:k"};
    row.status = status;
    row.queued_at = kNow;
    if (!run.empty()) {
      row.run = RunId{run};
      row.started_at = kNow;
    }
    return row;
  }
  static Planted ended(const std::string& status, int code) {
    Planted made = row(status, "r");
    if (code != 0) made.error_code = code;
    made.finished_at = kNow;
    return made;
  }

  // What the true store holds from now on, in place of all before: rows are numbered from 1.
  void holds(const std::vector<Planted>& rows, std::string_view call = kPlanted) {
    truth_ = MemoryStore{};
    for (const Planted& one : rows) truth_.plant(one);
    judge_.wrote({call == "begin" || call == "finish" ? worker_ : drainer_, call});
  }
  void mint() { judge_.minted(*drainer_, {.execution = id_, .job = {1}, .now = kNow}); }
  void begin() {
    holds({row("queued")});
    mint();
    holds({row("running", "r")}, "begin");
  }
  std::string violated() const {
    return world_.violation() ? world_.violation()->invariant : "nothing";
  }

  Scenario scenario_;
  World world_{scenario_, false};
  MemoryStore truth_;
  Judge judge_{world_, truth_, truth_, true};
  ProcessRef drainer_ = std::make_shared<Process>(Process{Role::drainer, "drainer1"});
  ProcessRef worker_ = std::make_shared<Process>(Process{Role::worker, "w1"});
  ExecutionId id_{1};
  RunId run_{"r"};
};

TEST_F(JudgeTest, HasNothingAgainstARunThatBeginsAndEndsAsItShould) {
  begin();
  judge_.script_started(run_, id_, world_.now() + 20s, worker_);
  judge_.announced(run_, 0);
  judge_.sent(run_, 0);
  judge_.effect_landed(run_, id_, 0);
  judge_.script_ended(run_, {});
  holds({ended("success", 0)}, "finish");
  judge_.check_end();
  EXPECT_EQ(violated(), "nothing");
}

TEST_F(JudgeTest, SeesARowThatIsGone) {
  holds({row("queued")});
  holds({});
  EXPECT_EQ(violated(), "never lost");
}

TEST_F(JudgeTest, SeesAQueuedRowThatIsEnded) {
  holds({row("queued")});
  holds({ended("error", 303)}, "end_undispatched");
  EXPECT_EQ(violated(), "never lost");
}

TEST_F(JudgeTest, SeesARowThatNeverEnds) {
  holds({row("queued")});
  judge_.check_end();
  EXPECT_EQ(violated(), "drains");
}

TEST_F(JudgeTest, SeesARowThatGoesBackToTheQueue) {
  begin();
  holds({row("queued")});
  EXPECT_EQ(violated(), "never re-run");
}

TEST_F(JudgeTest, SeesAnEndedRowThatChanges) {
  begin();
  judge_.script_ended(run_, {});
  holds({ended("success", 0)}, "finish");
  holds({ended("error", 303)}, "abandon");
  EXPECT_EQ(violated(), "finish at most once");
}

TEST_F(JudgeTest, SeesAScriptThatIsStartedAgain) {
  begin();
  judge_.script_started(run_, id_, world_.now() + 20s, worker_);
  judge_.script_started(run_, id_, world_.now() + 20s, worker_);
  EXPECT_EQ(violated(), "begun at most once");
}

TEST_F(JudgeTest, SeesABeginByAnythingButBegin) {
  holds({row("queued")});
  mint();
  holds({row("running", "r")}, "finish");
  EXPECT_EQ(violated(), "one arrow");
}

TEST_F(JudgeTest, SeesARevokedDispatchThatBegins) {
  holds({row("queued")});
  mint();
  judge_.revoked(id_);
  holds({row("running", "r")}, "begin");
  EXPECT_EQ(violated(), "a revoked dispatch never begins");
}

TEST_F(JudgeTest, SeesAnAccountOverItsCap) {
  Planted other = row("queued");
  other.key = ApiKeyHash{"key:other"};
  holds({row("queued"), other});
  mint();
  judge_.minted(*drainer_, {.execution = {2}, .job = {2}, .now = kNow});
  other = row("running", "s");
  other.key = ApiKeyHash{"key:other"};
  holds({row("running", "r"), row("queued")}, "begin");
  holds({row("running", "r"), other}, "begin");
  EXPECT_EQ(violated(), "caps");
}

TEST_F(JudgeTest, SeesAMintOfAPausedAccount) {
  holds({row("queued")});
  judge_.paused({"account:a"}, true);
  mint();
  EXPECT_EQ(violated(), "no dispatch of a paused account");
}

TEST_F(JudgeTest, SeesAMintOfAGatedKey) {
  holds({row("queued")});
  ASSERT_TRUE(truth_.close({.key = {"key:k"}, .until = kNow + 1s}, kNow));
  mint();
  EXPECT_EQ(violated(), "no dispatch of a gated key");
}

TEST_F(JudgeTest, SeesAMintAgainstAGateTheDrainerHadRead) {
  holds({row("queued")});
  judge_.gates_read(*drainer_, {{.key = {"key:k"}, .until = kNow + 1s}});
  mint();
  EXPECT_EQ(violated(), "no dispatch of a gated key");
}

TEST_F(JudgeTest, SeesAYoungerRowThatIsMintedFirst) {
  holds({row("queued"), row("queued")});
  judge_.lanes_read(judge_.rows_seen());
  judge_.minted(*drainer_, {.execution = {2}, .job = {2}, .now = kNow});
  EXPECT_EQ(violated(), "first in, first out");
}

TEST_F(JudgeTest, SeesASuccessThatWasNone) {
  begin();
  judge_.script_ended(run_, {ErrorCode::script_error, "it failed"});
  holds({ended("success", 0)}, "finish");
  EXPECT_EQ(violated(), "true outcome");
}

TEST_F(JudgeTest, SeesALivingRunThatIsCalledDead) {
  begin();
  holds({ended("error", 303)}, "abandon");
  EXPECT_EQ(violated(), "true outcome");
}

TEST_F(JudgeTest, SeesA303ThatForgetsWhatWasSent) {
  begin();
  judge_.announced(run_, 0);
  judge_.sent(run_, 0);
  worker_->is_alive = false;
  holds({ended("error", 303)}, "abandon");
  EXPECT_EQ(violated(), "true outcome");
}

TEST_F(JudgeTest, SeesADeadRunThatKeepsItsSlot) {
  begin();
  worker_->is_alive = false;
  for (int read = 0; read < 20; ++read) judge_.running_read(*drainer_);
  EXPECT_EQ(violated(), "a dead run frees its slot");
}

TEST_F(JudgeTest, SeesAChangeThatWasNotAnnounced) {
  begin();
  judge_.effect_landed(run_, id_, 0);
  EXPECT_EQ(violated(), "effects");
}

TEST_F(JudgeTest, SeesAChangeThatIsMadeTwice) {
  begin();
  judge_.announced(run_, 0);
  judge_.effect_landed(run_, id_, 0);
  judge_.effect_landed(run_, id_, 0);
  EXPECT_EQ(violated(), "effects");
}

TEST_F(JudgeTest, SeesAnAnnouncementThatCameAfterTheEnd) {
  begin();
  judge_.script_ended(run_, {});
  holds({ended("success", 0)}, "finish");
  judge_.announced(run_, 0);
  judge_.effect_landed(run_, id_, 0);
  EXPECT_EQ(violated(), "effects");
}

TEST_F(JudgeTest, SeesAnAcknowledgedRowThatIsNotThere) {
  const Arrival arrival{.number = 1};
  judge_.submitted("s1", arrival);
  judge_.answered("s1", Admitted{{7}, {7}});
  judge_.check_end();
  EXPECT_EQ(violated(), "admission");
}

TEST_F(JudgeTest, SeesTwoAnswersToOneSubmission) {
  const Arrival arrival{.number = 1};
  judge_.submitted("s1", arrival);
  judge_.answered("s1", Admitted{{1}, {1}});
  judge_.answered("s1", Admitted{{1}, {1}});
  EXPECT_EQ(violated(), "admission");
}

TEST_F(JudgeTest, SeesAQueuedRowThatNoPlanReaches) {
  holds({row("queued")});
  truth_ = MemoryStore{};
  judge_.check_reachable();
  EXPECT_EQ(violated(), "reachable or a reason");
}

TEST_F(JudgeTest, SeesAQuietAccountThatWaitsTooLong) {
  scenario_.profile = Profile::calm;
  Planted quiet = row("queued");
  quiet.account_id = AccountId{"account:a0"};
  holds({quiet});
  mint();
  world_.clock.advance_to(world_.now() + 60s);
  quiet.status = "running";
  quiet.run = run_;
  quiet.started_at = kNow;
  holds({quiet}, "begin");
  EXPECT_EQ(violated(), "a quiet account waits");
}

TEST_F(JudgeTest, SeesASecretInTheLog) {
  judge_.record({.name = "dispatch_failed", .fields = {{"error", "key TOPSECRETk1 refused"}}});
  EXPECT_EQ(violated(), "no secret told");
}

}  // namespace
}  // namespace coderunner::sim
