// The depth caps inside one shared commit: counted once, and exact whatever becomes of its units
// (rulings 19, 28).
#include <gtest/gtest.h>

#include <future>
#include <vector>

#include "adapters/sql/faces.h"
#include "adapters/sql/statements.h"
#include "tests/contract/faulty_session.h"
#include "tests/contract/sqlite_files.h"

namespace coderunner::contract {
namespace {

using sql::Keep;

class Depths : public testing::Test {
 protected:
  Depths() : store_(file_.open()), reader_(file_.session()) {
    auto faulty = std::make_unique<FaultySession>(file_.session());
    session_ = faulty.get();
    const sql::BusyWait wait{
        file_.clock, file_.entropy, [this](Millis length) { file_.clock.advance(length); }, {}};
    queue_.emplace(sql::CommitQueue::Parts{std::move(faulty), wait, nullptr}, file_.events);
    admission_.emplace(*queue_);
    session_->before_query = [this](std::string_view text) {
      counts_ += text == sql::text::kDepthInAll || text == sql::text::kDepthOfAccount ? 1 : 0;
    };
  }

  // In a commit of its own.
  void plant(const std::string& account, int rows) {
    for (int i = 0; i < rows; ++i)
      ASSERT_TRUE(admit_and_wait(store_->admission(), fresh(account, "planted" + account, i)));
  }
  // Its rank in the batch is what tells its answer from the others.
  void admit(const std::string& account, const DepthCaps& caps, const std::string& ref = "") {
    NewExecution execution = fresh(account, ref.empty() ? "batch" : ref, rank_);
    if (!ref.empty()) execution.ref = {ref};
    execution.caps = caps;
    batch_.emplace_back([this, execution, rank = rank_++] {
      admission_->admit(execution, [this, rank](const Result<AdmitAnswer>& given) {
        answers_[static_cast<std::size_t>(rank)] = given.has_value() ? name(*given) : "failed";
      });
    });
  }
  void admit(int times, const std::string& account, const DepthCaps& caps) {
    for (int i = 0; i < times; ++i) admit(account, caps);
  }
  void end_one(const std::string& account) {
    batch_.emplace_back([&queue = *queue_, account] {
      sql::Unit unit;
      unit.run = [account](sql::Session& on) -> Result<Keep> {
        const auto ended = on.execute(
            "UPDATE codeRunner_executions SET status = 'error' WHERE execution_id = (SELECT "
            "min(execution_id) FROM codeRunner_executions WHERE status = 'queued' AND "
            "subdomain_hash = :account)",
            {account});
        if (!ended) return ended.error();
        return Keep::yes;
      };
      unit.done = [](const std::optional<Error>& error) { EXPECT_FALSE(error); };
      queue.submit(std::move(unit));
    });
  }
  // All as one batch: they arrive while the queue is busy with the answer of another unit.
  std::vector<std::string> commit_together() {
    answers_.assign(static_cast<std::size_t>(rank_), "not answered");
    sql::Unit first;
    first.run = [](sql::Session&) -> Result<Keep> { return Keep::no; };
    first.done = [this](const std::optional<Error>&) {
      for (const auto& submit : batch_) submit();
      arm_();
    };
    queue_->submit(std::move(first));
    queue_.reset();
    return answers_;
  }
  std::int64_t queued(const std::string& account) {
    return reader_
        ->query(
            "SELECT count(*) FROM codeRunner_executions WHERE status = 'queued' AND "
            "subdomain_hash = :account",
            {account})
        ->front()
        .number(0);
  }

  std::function<void()> arm_ = [] {};
  FaultySession* session_ = nullptr;
  int counts_ = 0;

 private:
  static NewExecution fresh(const std::string& account, const std::string& ref, int number) {
    NewExecution fresh;
    fresh.ref = {ref + "-" + std::to_string(number)};
    fresh.account = account;
    fresh.account_id = {account};
    fresh.sealed_key = "sealed";
    fresh.queued_at = kNoon;
    return fresh;
  }
  static std::string name(const AdmitAnswer& answer) {
    if (const auto* deep = std::get_if<TooDeep>(&answer))
      return (deep->of == TooDeep::Of::account ? "own " : "all ") + std::to_string(deep->queued);
    return std::holds_alternative<Admitted>(answer) ? "in" : "another answer";
  }
  SqliteFile file_;
  std::unique_ptr<sql::SqlStore> store_;
  std::unique_ptr<sql::Session> reader_;
  std::optional<sql::CommitQueue> queue_;
  std::optional<sql::AdmissionFace> admission_;
  std::vector<std::function<void()>> batch_;
  std::vector<std::string> answers_;
  int rank_ = 0;
};

using Answers = std::vector<std::string>;

// R15
TEST_F(Depths, AreCountedOnceForABatchHoweverManyArriveTogether) {
  plant("beta", 5);
  admit(20, "acme", {.per_account = 3, .all = 100});
  admit(20, "beta", {.per_account = 30, .all = 100});
  commit_together();
  EXPECT_EQ(counts_, 2) << "all, and those of acme";
  EXPECT_EQ(queued("acme"), 3);
  EXPECT_EQ(queued("beta"), 25);
}

// R14
TEST_F(Depths, OfABatchThatCrossesACapExactlyTheCapIsAdmitted) {
  plant("acme", 2);
  admit(4, "acme", {.per_account = 4, .all = 100});
  admit(3, "beta", {.per_account = 4, .all = 6});
  EXPECT_EQ(commit_together(), (Answers{"in", "in", "own 4", "own 4", "in", "in", "all 6"}));
  EXPECT_EQ(queued("acme"), 4);
  EXPECT_EQ(queued("beta"), 2);
}

TEST_F(Depths, AUnitThatIsUndoneInTheMiddleOfABatchTakesNoPlace) {
  plant("acme", 1);
  admit("acme", {.per_account = 4, .all = 5}, "twice");
  admit("acme", {.per_account = 4, .all = 5}, "twice");  // breaks a constraint
  admit(3, "acme", {.per_account = 4, .all = 5});
  admit(2, "beta", {.per_account = 4, .all = 5});
  EXPECT_EQ(commit_together(), (Answers{"in", "failed", "in", "in", "own 4", "in", "all 5"}));
}

TEST_F(Depths, OfABatchRunAgainOneByOneAfterALostCommitExactlyTheCapIsAdmitted) {
  plant("acme", 1);
  admit(4, "acme", {.per_account = 3, .all = 100});
  admit(2, "beta", {.per_account = 4, .all = 4});
  arm_ = [this] { session_->arm("COMMIT", Fault::lose); };
  EXPECT_EQ(commit_together(), (Answers{"in", "in", "own 3", "own 3", "in", "all 4"}));
  EXPECT_EQ(queued("acme"), 3);
  EXPECT_EQ(queued("beta"), 1);
}

TEST_F(Depths, ATransactionLostInMidBatchTakesItsCountsWithIt) {
  plant("acme", 1);
  admit(4, "acme", {.per_account = 3, .all = 100});
  arm_ = [this] { session_->arm("batch-2", Fault::lose); };
  EXPECT_EQ(commit_together(), (Answers{"in", "in", "own 3", "own 3"}));
  EXPECT_EQ(queued("acme"), 3);
}

TEST_F(Depths, WhatEndsInABatchGivesItsPlaceToTheNextInIt) {
  plant("acme", 2);
  admit(1, "acme", {.per_account = 2, .all = 100});
  end_one("acme");
  admit(2, "acme", {.per_account = 2, .all = 100});
  EXPECT_EQ(commit_together(), (Answers{"own 2", "in", "own 2"}));
}

TEST_F(Depths, ACapAboveWhatWasCountedIsCountedFor) {
  plant("acme", 5);
  admit(1, "acme", {.per_account = 2, .all = 3});
  admit(1, "acme", {.per_account = 6, .all = 100});
  admit(1, "acme", {.per_account = 6, .all = 100});
  admit(1, "acme", {.per_account = 2, .all = 3});
  EXPECT_EQ(commit_together(), (Answers{"own 3", "in", "own 6", "own 3"}));
}

}  // namespace
}  // namespace coderunner::contract
