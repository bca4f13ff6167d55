// The commit queue's promises (rulings 28 and 29), with a session that fails on command.
#include "adapters/sql/commit_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <map>

#include "tests/contract/faulty_session.h"
#include "tests/contract/sqlite_files.h"

namespace coderunner::contract {
namespace {

using sql::Keep;

class CommitQueueTest : public testing::Test {
 protected:
  CommitQueueTest() : reader_(file_.session()) {
    EXPECT_TRUE(reader_->query("PRAGMA journal_mode = WAL"));
    EXPECT_TRUE(reader_->execute("CREATE TABLE marks (name TEXT PRIMARY KEY, filling TEXT)"));
    auto faulty = std::make_unique<FaultySession>(file_.session());
    session = faulty.get();
    start(std::move(faulty), sql::Writer::own_thread);
  }

  void start(std::unique_ptr<sql::Session> with, sql::Writer writer,
             std::unique_ptr<sql::Waiters> waiters = nullptr) {
    const sql::BusyWait wait{file_.clock,
                             file_.entropy,
                             [this](Millis length) {
                               pauses.push_back(length);
                               file_.clock.advance(length);
                             },
                             {}};
    queue.emplace(sql::CommitQueue::Parts{std::move(with), wait, std::move(waiters), writer},
                  file_.events);
  }

  // Inserts `name` and counts its runs; its mark is the row itself.
  sql::Unit unit(const std::string& name, std::size_t filling = 0) {
    sql::Unit unit;
    unit.run = [this, name, filling](sql::Session& on) -> Result<Keep> {
      ++runs[name];
      const auto row =
          on.insert("INSERT INTO marks VALUES (:n, :f)", {name, std::string(filling, 'x')});
      if (!row) return row.error();
      return Keep::yes;
    };
    unit.landed = [name](sql::Session& on) -> Result<bool> {
      const auto rows = on.query("SELECT 1 FROM marks WHERE name = :n", {name});
      if (!rows) return rows.error();
      return !rows->empty();
    };
    unit.done = [this, name](const std::optional<Error>& error) { answers[name] = error; };
    return unit;
  }

  // Holds the writer until all of `units` are queued, so that they share a batch, and waits for
  // their answers.
  void commit_together(std::vector<sql::Unit> units) {
    std::latch begun{1};
    std::latch queued{1};
    sql::Unit holding;
    holding.run = [&](sql::Session&) -> Result<Keep> {
      begun.count_down();
      queued.wait();
      return Keep::no;
    };
    holding.done = [](const std::optional<Error>&) {};
    queue->submit(std::move(holding));
    begun.wait();
    for (sql::Unit& each : units) queue->submit(std::move(each));
    arm();
    queued.count_down();
    queue.reset();
  }

  bool stored(const std::string& name) {
    return !reader_->query("SELECT 1 FROM marks WHERE name = :n", {name})->empty();
  }
  std::optional<Failure> failure(const std::string& name) {
    EXPECT_TRUE(answers.contains(name)) << name << " was never answered";
    const auto& error = answers[name];
    return error ? std::optional{error->kind} : std::nullopt;
  }

  SqliteFile file_;
  std::unique_ptr<sql::Session> reader_;
  FaultySession* session = nullptr;
  std::optional<sql::CommitQueue> queue;
  std::function<void()> arm = [] {};  // after the holding unit has begun
  std::map<std::string, int> runs;
  std::map<std::string, std::optional<Error>> answers;
  std::vector<Millis> pauses;
};

TEST_F(CommitQueueTest, UnitsThatArriveTogetherShareOneCommit) {
  int commits = 0;
  session->before_commit = [&] {
    EXPECT_TRUE(answers.empty()) << "answered before COMMIT";
    ++commits;
  };
  commit_together({unit("a"), unit("b"), unit("c")});
  EXPECT_EQ(commits, 2) << "one of the holding unit, one of the three";
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(failure(name), std::nullopt);
    EXPECT_TRUE(stored(name));
    EXPECT_EQ(runs[name], 1);
  }
}

TEST_F(CommitQueueTest, ALoneUnitIsCommittedAtOnce) {
  EXPECT_EQ(*queue->run<int>([](sql::Session& on, int& value) -> Result<Keep> {
    EXPECT_TRUE(on.execute("INSERT INTO marks VALUES ('lone', '')"));
    value = 7;
    return Keep::yes;
  }),
            7);
  EXPECT_TRUE(stored("lone"));
  EXPECT_TRUE(pauses.empty());
}

TEST_F(CommitQueueTest, AUnitThatBreaksAConstraintTakesNoOtherWithIt) {
  commit_together({unit("a"), unit("a"), unit("b")});
  EXPECT_EQ(failure("a"), Failure::conflict) << "the second of them";
  EXPECT_EQ(failure("b"), std::nullopt);
  EXPECT_TRUE(stored("a"));
  EXPECT_TRUE(stored("b"));
  EXPECT_EQ(runs["b"], 1);
}

TEST_F(CommitQueueTest, AUnitThatKeepsNothingLeavesNothingAndIsAnswered) {
  sql::Unit nothing = unit("nothing");
  nothing.run = [inner = nothing.run](sql::Session& on) -> Result<Keep> {
    EXPECT_TRUE(inner(on));
    return Keep::no;
  };
  commit_together({unit("a"), std::move(nothing), unit("b")});
  EXPECT_EQ(failure("nothing"), std::nullopt);
  EXPECT_FALSE(stored("nothing"));
  EXPECT_TRUE(stored("a"));
  EXPECT_TRUE(stored("b"));
}

TEST_F(CommitQueueTest, WhenTheTransactionIsGoneEveryUnitRunsAgainAlone) {
  arm = [this] { session->arm("poison", Fault::lose, 2); };
  commit_together({unit("a"), unit("poison"), unit("b")});
  EXPECT_EQ(failure("a"), std::nullopt);
  EXPECT_EQ(failure("b"), std::nullopt);
  EXPECT_EQ(failure("poison"), Failure::unavailable);
  EXPECT_TRUE(stored("a"));
  EXPECT_TRUE(stored("b"));
  EXPECT_FALSE(stored("poison"));
  EXPECT_EQ(runs["a"], 2);
  EXPECT_EQ(runs["poison"], 2);
  EXPECT_EQ(file_.events.names().front(), "commit_fell_apart");
}

TEST_F(CommitQueueTest, AnInjectedFailureWithALivingTransactionIsTheUnitsOwn) {
  arm = [this] { session->arm("poison", Fault::refuse); };
  commit_together({unit("a"), unit("poison"), unit("b")});
  EXPECT_EQ(failure("poison"), Failure::unavailable);
  EXPECT_EQ(runs["a"], 1);
  EXPECT_TRUE(stored("a"));
  EXPECT_TRUE(stored("b"));
}

TEST_F(CommitQueueTest, AfterAnUnknownCommitThatLandedNothingRunsTwice) {
  bool lied = false;
  session->before_commit = [&] {
    if (!runs.contains("a") || std::exchange(lied, true)) return;
    session->arm("COMMIT", Fault::do_and_lie);
  };
  commit_together({unit("a"), unit("b")});
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(failure(name), std::nullopt) << name;
    EXPECT_EQ(runs[name], 1) << name;
    EXPECT_TRUE(stored(name));
  }
}

TEST_F(CommitQueueTest, AfterAnUnknownCommitThatDidNotLandEveryUnitRunsAgainAlone) {
  bool lost = false;
  session->before_commit = [&] {
    if (!runs.contains("a") || std::exchange(lost, true)) return;
    session->arm("COMMIT", Fault::lose);
  };
  commit_together({unit("a"), unit("b")});
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(failure(name), std::nullopt) << name;
    EXPECT_EQ(runs[name], 2) << name;
    EXPECT_TRUE(stored(name));
  }
}

TEST_F(CommitQueueTest, WhereTheMarkCannotBeReadTheOutcomeIsUnknown) {
  session->before_commit = [this] {
    if (!runs.contains("a")) return;
    session->arm("COMMIT", Fault::do_and_lie);
    session->arm("SELECT 1 FROM marks", Fault::refuse, 9);
  };
  commit_together({unit("a"), unit("b")});
  EXPECT_EQ(failure("a"), Failure::unknown_outcome);
  EXPECT_EQ(failure("b"), Failure::unknown_outcome);
}

TEST_F(CommitQueueTest, ACommitThatMaySurfaceOneDayIsUnknownUnlessAnotherFollowsIt) {
  session->before_commit = [&] {
    if (!runs.contains("a")) return;
    session->arm("COMMIT", Fault::lose_for_now);
    session->arm("BEGIN IMMEDIATE", Fault::refuse, 99);
    session->before_commit = {};
  };
  commit_together({unit("a"), unit("b")});
  EXPECT_EQ(failure("a"), Failure::unknown_outcome);
  EXPECT_EQ(failure("b"), Failure::unknown_outcome);

  auto faulty = std::make_unique<FaultySession>(file_.session());
  session = faulty.get();
  start(std::move(faulty), sql::Writer::own_thread);
  runs.clear();
  session->before_commit = [&] {
    if (!runs.contains("c")) return;
    session->arm("COMMIT", Fault::lose_for_now);
    session->before_commit = {};
  };
  commit_together({unit("c"), unit("d")});
  EXPECT_EQ(failure("c"), std::nullopt) << "its own commit has taken the lost one's place";
  EXPECT_EQ(failure("d"), std::nullopt);
  EXPECT_TRUE(stored("c"));
}

TEST_F(CommitQueueTest, ACommitThatFailsWithALivingTransactionIsUndoneAndTriedAlone) {
  bool refused = false;
  session->before_commit = [&] {
    if (!runs.contains("a") || std::exchange(refused, true)) return;
    session->arm("COMMIT", Fault::refuse);
  };
  commit_together({unit("a"), unit("b")});
  EXPECT_EQ(failure("a"), std::nullopt);
  EXPECT_EQ(failure("b"), std::nullopt);
  EXPECT_TRUE(stored("a"));
  EXPECT_TRUE(stored("b"));
}

TEST_F(CommitQueueTest, AStoreThatIsAwayAnswersEveryUnitOnce) {
  arm = [this] { session->arm("BEGIN IMMEDIATE", Fault::refuse, 99); };
  commit_together({unit("a"), unit("b")});
  EXPECT_EQ(failure("a"), Failure::unavailable);
  EXPECT_EQ(failure("b"), Failure::unavailable);
  EXPECT_TRUE(runs.empty());
}

TEST_F(CommitQueueTest, ALockOfAnotherConnectionIsWaitedForInSmallJitteredSteps) {
  arm = [this] { session->arm_busy("BEGIN IMMEDIATE", 20); };
  commit_together({unit("a")});
  EXPECT_EQ(failure("a"), std::nullopt);
  EXPECT_TRUE(stored("a"));
  ASSERT_GE(pauses.size(), 18U);
  EXPECT_NE(std::ranges::min(pauses), std::ranges::max(pauses)) << "no jitter";
  EXPECT_GE(std::ranges::min(pauses), limits::kStoreWaitMin);
  EXPECT_LE(std::ranges::max(pauses), limits::kStoreWaitMax);
}

TEST_F(CommitQueueTest, ALockThatStaysIsUnavailableAfterItsBudget) {
  arm = [this] { session->arm_busy("BEGIN IMMEDIATE", 1'000'000); };
  commit_together({unit("a")});
  EXPECT_EQ(failure("a"), Failure::unavailable);
  Millis waited{0};
  for (const Millis pause : pauses) waited += pause;
  EXPECT_GE(waited, limits::kStoreWaitBudget);
  EXPECT_LE(waited, limits::kStoreWaitBudget + limits::kStoreWaitMax);
}

TEST_F(CommitQueueTest, AfterABatchItLeavesAGapWhileAnotherProcessWaits) {
  sql::Waiters another{file_.path()};
  for (const bool waiting : {true, false, true}) {
    queue.reset();
    start(file_.session(), sql::Writer::own_thread, std::make_unique<sql::Waiters>(file_.path()));
    waiting ? another.arrive() : another.leave();
    pauses.clear();
    EXPECT_TRUE(queue->run<int>([](sql::Session&, int&) -> Result<Keep> { return Keep::yes; }));
    queue.reset();
    EXPECT_EQ(pauses.empty(), !waiting);
    EXPECT_LE(pauses.size(), 5U) << "a gap, not a wait";
  }
}

TEST_F(CommitQueueTest, AWaiterThatIsKilledWaitsNoMore) {
  const sql::Waiters mine{file_.path()};
  {
    sql::Waiters another{file_.path()};
    EXPECT_FALSE(mine.others());
    another.arrive();
    EXPECT_TRUE(mine.others());
  }
  EXPECT_FALSE(mine.others()) << "closing its file is all that a death does";
}

TEST_F(CommitQueueTest, ADiskThatIsFullInMidBatchCostsOnlyTheUnitThatDoesNotFit) {
  sql::Unit limit = unit("limit");
  limit.run = [](sql::Session& on) -> Result<Keep> {
    const auto pages = on.query("PRAGMA max_page_count = 60");
    if (!pages) return pages.error();
    return Keep::no;
  };
  commit_together({std::move(limit), unit("a"), unit("huge", 400'000), unit("b")});
  EXPECT_EQ(failure("a"), std::nullopt);
  EXPECT_EQ(failure("b"), std::nullopt);
  EXPECT_EQ(failure("huge"), Failure::unavailable);
  EXPECT_TRUE(stored("a"));
  EXPECT_TRUE(stored("b"));
  EXPECT_FALSE(stored("huge"));
}

TEST_F(CommitQueueTest, ASingleThreadedProcessCommitsOnItsOwnThread) {
  queue.reset();
  start(file_.session(), sql::Writer::caller);
  std::thread::id ran_on;
  sql::Unit mine = unit("mine");
  mine.run = [&, inner = mine.run](sql::Session& on) {
    ran_on = std::this_thread::get_id();
    return inner(on);
  };
  queue->submit(std::move(mine));
  EXPECT_EQ(ran_on, std::this_thread::get_id());
  EXPECT_EQ(failure("mine"), std::nullopt);
  EXPECT_TRUE(stored("mine"));
}

}  // namespace
}  // namespace coderunner::contract
