// What a tick reads: as many statements and rows whether a hundred executions wait or 20,000.
#include <gtest/gtest.h>

#include "adapters/sql/faces.h"
#include "tests/contract/sqlite_files.h"

namespace coderunner::contract {
namespace {

class CountingSession final : public sql::Session {
 public:
  explicit CountingSession(std::unique_ptr<sql::Session> real) : real_(std::move(real)) {}

  using sql::Session::execute;
  using sql::Session::query;
  Result<std::int64_t> execute(std::string_view text, const sql::Values& values) override {
    return real_->execute(text, values);
  }
  Result<std::int64_t> insert(std::string_view text, const sql::Values& values) override {
    return real_->insert(text, values);
  }
  Result<sql::Rows> query(std::string_view text, const sql::Values& values) override {
    auto rows = real_->query(text, values);
    ++queries;
    if (rows) rows_read += static_cast<int>(rows->size());
    return rows;
  }
  bool in_transaction() const override { return real_->in_transaction(); }
  bool was_busy() const override { return real_->was_busy(); }
  Result<Done> ensure_usable() override { return real_->ensure_usable(); }

  int queries = 0;
  int rows_read = 0;

 private:
  std::unique_ptr<sql::Session> real_;
};

constexpr int kLanes = 20;
constexpr int kRowsPerLane = 2;

struct Cost {
  int queries = 0;
  int rows = 0;
  friend bool operator==(const Cost&, const Cost&) = default;
};

// Of the lane heads, with so many rows waiting in 20 lanes of as many accounts.
Cost cost_of_lanes(int queued) {
  SqliteFile file;
  const auto store = file.open();
  CountingSession session{file.session()};
  EXPECT_TRUE(session.execute("BEGIN IMMEDIATE"));
  EXPECT_TRUE(session.execute(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :queued) "
      "INSERT INTO codeRunner_jobs (admission_ref) SELECT 'ref' || i FROM n",
      {queued}));
  EXPECT_TRUE(session.execute(
      "INSERT INTO codeRunner_executions (job_id, subdomain_hash, status, queued_at, apikey_hash) "
      "SELECT job_id, 'a' || (job_id % 20), 'queued', '2026-08-24 12:00:00.000', 'k' || (job_id % "
      "20) "
      "FROM codeRunner_jobs"));
  EXPECT_TRUE(session.execute("COMMIT"));
  session.queries = session.rows_read = 0;
  const auto lanes = sql::read_lanes(session, kRowsPerLane);
  EXPECT_TRUE(lanes);
  EXPECT_EQ(lanes ? std::ssize(*lanes) : 0, kLanes);
  return {session.queries, session.rows_read};
}

TEST(SqliteLanes, CostTheSameWhateverTheBacklog) {
  const Cost few = cost_of_lanes(100);
  EXPECT_EQ(cost_of_lanes(20'000), few);
  // A lane: its heads, and the lane after it. Once: what has no account, and that there is no more.
  EXPECT_LE(few.queries, 2 * kLanes + 4);
  EXPECT_LE(few.rows, (kRowsPerLane + 1) * kLanes);
}

}  // namespace
}  // namespace coderunner::contract
