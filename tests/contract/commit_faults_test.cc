// One fault at every statement of a shared commit, in every kind: whatever the queue answers is
// true (rulings 28). No batch is written by hand here; the statements are counted until none is
// left.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <latch>
#include <map>

#include "adapters/sql/commit_queue.h"
#include "tests/contract/faulty_session.h"
#include "tests/contract/sqlite_files.h"

namespace coderunner::contract {
namespace {

using sql::Keep;

constexpr int kFirstInsert = 3;  // after BEGIN and SAVEPOINT
constexpr int kFromThenOn = 999;
constexpr int kMostStatements = 60;  // a batch of three, run together and then alone, has under 40

enum class Marked { yes, no };  // whether the unit can tell that its own commit took effect

struct Strike {
  int ordinal;
  Fault fault;
  int times = 1;
};

class Batch {
 public:
  explicit Batch(Marked marked) : marked_(marked), reader_(file_.session()) {
    EXPECT_TRUE(reader_->query("PRAGMA journal_mode = WAL"));
    EXPECT_TRUE(reader_->execute("CREATE TABLE marks (name TEXT PRIMARY KEY)"));
    auto writing = file_.session();
    for (auto* session : {reader_.get(), writing.get()})  // no power fails here
      EXPECT_TRUE(session->execute("PRAGMA synchronous = OFF"));
    auto faulty = std::make_unique<FaultySession>(std::move(writing));
    session_ = faulty.get();
    const sql::BusyWait wait{
        file_.clock, file_.entropy, [this](Millis length) { file_.clock.advance(length); }, {}};
    queue_.emplace(sql::CommitQueue::Parts{std::move(faulty), wait, nullptr}, file_.events);
  }

  // How many of the faults struck before the batch ended.
  int commit_under(const std::vector<Strike>& strikes) {
    std::latch begun{1}, queued{1};
    sql::Unit holding;
    holding.run = [&](sql::Session&) -> Result<Keep> {
      begun.count_down();
      queued.wait();
      return Keep::no;
    };
    // its own ending is over by the time it is answered: what comes next is the batch
    holding.done = [&](const std::optional<Error>&) {
      for (const Strike& one : strikes) session_->arm_at(one.ordinal, one.fault, one.times);
    };
    queue_->submit(std::move(holding));
    begun.wait();
    for (const char* name : kNames) queue_->submit(unit(name));
    queued.count_down();
    answered_.wait();
    trouble_ = queue_->trouble();
    const int struck = session_->faults_struck();
    queue_.reset();
    return struck;
  }

  void expect_truth(const std::string& which) {
    for (const char* name : kNames) {
      const std::string where = which + ", unit " + name;
      ASSERT_EQ(answers_[name].size(), 1U) << where << ": answered other than once";
      const std::optional<Error>& error = answers_[name].front();
      if (error && error->kind == Failure::unknown_outcome) continue;
      EXPECT_EQ(stored(name), !error)
          << where << (error ? ": refused, and kept: " + error->message : ": acknowledged, lost");
    }
  }

  std::optional<Error> trouble() const { return trouble_; }
  bool all_stored() {
    return std::ranges::all_of(kNames, [this](const char* name) { return stored(name); });
  }

 private:
  static constexpr std::array kNames{"a", "b", "c"};

  sql::Unit unit(const std::string& name) {
    sql::Unit unit;
    const bool marked = marked_ == Marked::yes;
    unit.run = [name, marked](sql::Session& on) -> Result<Keep> {
      const auto row = marked ? on.insert("INSERT INTO marks VALUES (:n)", {name})
                              : on.insert("INSERT OR IGNORE INTO marks VALUES (:n)", {name});
      if (!row) return row.error();
      return Keep::yes;
    };
    if (marked)
      unit.landed = [name](sql::Session& on) -> Result<bool> {
        const auto rows = on.query("SELECT 1 FROM marks WHERE name = :n", {name});
        if (!rows) return rows.error();
        return !rows->empty();
      };
    unit.done = [this, name](const std::optional<Error>& error) {
      answers_[name].push_back(error);
      answered_.count_down();
    };
    return unit;
  }

  bool stored(const char* name) {
    return !reader_->query("SELECT 1 FROM marks WHERE name = :n", {name})->empty();
  }

  Marked marked_;
  SqliteFile file_;
  std::unique_ptr<sql::Session> reader_;
  FaultySession* session_ = nullptr;
  std::optional<sql::CommitQueue> queue_;
  std::map<std::string, std::vector<std::optional<Error>>> answers_;
  std::latch answered_{std::ssize(kNames)};
  std::optional<Error> trouble_;
};

struct Kind {
  const char* name;
  std::function<std::vector<Strike>(int ordinal)> strikes;
  Marked marked = Marked::yes;
  friend void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }
};

std::function<std::vector<Strike>(int)> at(Fault fault, int times = 1) {
  return [=](int ordinal) { return std::vector<Strike>{{ordinal, fault, times}}; };
}
// The store is away for good after it.
std::function<std::vector<Strike>(int)> last(Fault fault) {
  return [=](int ordinal) {
    return std::vector<Strike>{{ordinal, fault}, {ordinal + 1, Fault::refuse, kFromThenOn}};
  };
}
// To units that run alone already.
std::function<std::vector<Strike>(int)> apart(Fault fault) {
  return [=](int ordinal) {
    return std::vector<Strike>{{kFirstInsert, Fault::lose}, {kFirstInsert + ordinal, fault}};
  };
}

class CommitFaults : public testing::TestWithParam<Kind> {};

TEST_P(CommitFaults, AtAnyStatementOfABatchNoAnswerIsALie) {
  const Kind& kind = GetParam();
  const int whole = static_cast<int>(kind.strikes(1).size());
  int ordinal = 1;
  for (int struck = whole; struck == whole; ++ordinal) {
    ASSERT_LT(ordinal, kMostStatements) << "the batch never ends";
    Batch batch{kind.marked};
    struck = batch.commit_under(kind.strikes(ordinal));
    batch.expect_truth(std::string{kind.name} + " at statement " + std::to_string(ordinal));
    if (struck == 0) {
      EXPECT_TRUE(batch.all_stored());
      EXPECT_FALSE(batch.trouble());
    }
  }
  EXPECT_GT(ordinal, 10) << "begin, three units of three statements, commit";
}

INSTANTIATE_TEST_SUITE_P(
    Each, CommitFaults,
    testing::Values(Kind{"refused_once", at(Fault::refuse)},
                    Kind{"refused_twice", at(Fault::refuse, 2)},
                    Kind{"refused_from_then_on", at(Fault::refuse, kFromThenOn)},
                    Kind{"refused_alone", apart(Fault::refuse)},
                    Kind{"transaction_lost", at(Fault::lose)},
                    Kind{"transaction_lost_twice", at(Fault::lose, 2)},
                    Kind{"transaction_lost_from_then_on", at(Fault::lose, kFromThenOn)},
                    Kind{"transaction_lost_alone", apart(Fault::lose)},
                    Kind{"done_and_denied", at(Fault::do_and_lie)},
                    Kind{"done_and_denied_twice", at(Fault::do_and_lie, 2)},
                    Kind{"done_and_denied_alone", apart(Fault::do_and_lie)},
                    Kind{"done_and_denied_then_away", last(Fault::do_and_lie)},
                    Kind{"lost_unmarked", at(Fault::lose), Marked::no},
                    Kind{"done_and_denied_unmarked", at(Fault::do_and_lie), Marked::no},
                    Kind{"away_unmarked", last(Fault::do_and_lie), Marked::no}),
    [](const auto& suite) { return std::string{suite.param.name}; });

// R05: the scheduler's claim is one change or none.
class ClaimFaults : public testing::TestWithParam<Fault> {};

TEST_P(ClaimFaults, AClaimThatFailsAtAnyStatementLeavesTheRowQueuedAndNoNonceOut) {
  bool struck = true;
  for (int ordinal = 1; struck; ++ordinal) {
    ASSERT_LT(ordinal, kMostStatements);
    SqliteFile file;
    NewExecution fresh{.ref = {"ref"}, .account = "a", .account_id = {"a"}, .sealed_key = "k"};
    const Admitted row = *admit_and_wait(file.open()->admission(), fresh);

    auto faulty = std::make_unique<FaultySession>(file.session());
    FaultySession* session = faulty.get();
    const sql::BusyWait wait{
        file.clock, file.entropy, [&](Millis length) { file.clock.advance(length); }, {}};
    sql::SqlStore store{
        {{std::move(faulty), wait, nullptr}, [&] { return file.session(); }, wait, 1}, file.events};
    session->arm_at(ordinal, GetParam());
    const auto minted =
        store.dispatch().mint({row.execution, row.job, {"nonce"}, {"drainer"}, kNoon});
    struck = session->faults_struck() > 0;

    const auto job = file.session()->query(
        "SELECT nonce_hash, dispatch_attempts FROM codeRunner_jobs WHERE job_id = :j", {row.job});
    const bool is_out = minted && *minted == MintAnswer::minted;
    EXPECT_EQ(job->at(0).maybe_text(0).has_value(), is_out) << "statement " << ordinal;
    EXPECT_EQ(job->at(0).number(1), is_out ? 1 : 0) << "statement " << ordinal;
    EXPECT_EQ((*store.view().execution(row.execution))->status, Status::queued);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, ClaimFaults,
                         testing::Values(Fault::refuse, Fault::lose, Fault::do_and_lie));

TEST(CommitTrouble, LastsFromAWriteThatFailedToOneThatWasDurable) {
  Batch failing{Marked::yes};
  failing.commit_under({{1, Fault::refuse, kFromThenOn}});
  ASSERT_TRUE(failing.trouble());
  EXPECT_EQ(failing.trouble()->kind, Failure::unavailable);

  Batch mended{Marked::yes};
  mended.commit_under({{kFirstInsert, Fault::lose}});
  EXPECT_TRUE(mended.all_stored()) << "every unit ran again alone";
  EXPECT_FALSE(mended.trouble());
}

}  // namespace
}  // namespace coderunner::contract
