// What the planner makes of the hot statements: a scan or a sort there is a queue that slows down
// with its history.
#include <gtest/gtest.h>

#include "adapters/sql/statements.h"
#include "tests/contract/sqlite_files.h"

namespace coderunner::contract {
namespace {

class SqlitePlans : public testing::Test {
 protected:
  SqlitePlans() : store(file.open()), session(file.session()) {}

  std::string plan(std::string_view text) {
    const auto rows = session->query("EXPLAIN QUERY PLAN " + unbound(text), {});
    EXPECT_TRUE(rows) << text;
    std::string plan;
    if (!rows) return plan;
    for (const sql::Row& row : *rows) plan += row.text(3) + "; ";
    return plan;
  }

  // ":name" -> "?1": SOCI wants a value for a name
  static std::string unbound(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != ':') {
        out += text[i];
        continue;
      }
      out += '?';
      while (i + 1 < text.size() && (std::isalnum(text[i + 1]) != 0 || text[i + 1] == '_')) ++i;
    }
    return out;
  }

  void expect_no_scan_and_no_sort() {
    for (const auto& [name, text] : sql::text::hot_statements()) {
      const std::string plan = this->plan(text);
      if (text.starts_with("INSERT")) continue;
      EXPECT_NE(plan.find("SEARCH"), std::string::npos) << name << ": " << plan;
      EXPECT_EQ(plan.find("SCAN codeRunner"), std::string::npos) << name << ": " << plan;
      EXPECT_EQ(plan.find("SCAN e"), std::string::npos) << name << ": " << plan;
      EXPECT_EQ(plan.find("TEMP B-TREE"), std::string::npos) << name << ": " << plan;
      EXPECT_EQ(plan.find("AUTOMATIC"), std::string::npos) << name << ": " << plan;
    }
  }

  // A store with a long history and a short queue, as it is in production.
  void fill() {
    ASSERT_TRUE(session->execute("BEGIN IMMEDIATE"));
    ASSERT_TRUE(session->execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
        "INSERT INTO codeRunner_jobs (admission_ref, nonce_hash) "
        "SELECT 'ref' || i, CASE WHEN i > 4990 THEN 'n' || i END FROM n"));
    ASSERT_TRUE(session->execute(
        "INSERT INTO codeRunner_executions (job_id, subdomain, subdomain_hash, status, error_code, "
        "queued_at, started_at, finished_at, apikey_hash) "
        "SELECT job_id, 'a' || (job_id % 40), 'a' || (job_id % 40), "
        "CASE WHEN job_id > 4980 THEN 'queued' WHEN job_id > 4976 THEN 'running' "
        "WHEN job_id % 5 = 0 THEN 'error' ELSE 'success' END, "
        "CASE WHEN job_id % 5 = 0 THEN 301 END, '2026-08-24 12:00:00.000', "
        "CASE WHEN job_id <= 4980 THEN '2026-08-24 12:00:00.000' END, "
        "CASE WHEN job_id <= 4976 THEN '2026-08-24 12:00:01.000' END, 'k' || (job_id % 60) "
        "FROM codeRunner_jobs"));
    ASSERT_TRUE(session->execute("COMMIT"));
  }

  SqliteFile file;
  std::unique_ptr<sql::SqlStore> store;
  std::unique_ptr<sql::Session> session;
};

TEST_F(SqlitePlans, NoHotStatementScansOrSorts) { expect_no_scan_and_no_sort(); }

TEST_F(SqlitePlans, NorDoesOneAfterTheStoreWasAnalyzed) {
  fill();
  ASSERT_TRUE(session->execute("ANALYZE"));
  session = file.session();
  expect_no_scan_and_no_sort();
}

TEST_F(SqlitePlans, LaneDivesNeverReadARow) {
  namespace text = sql::text;
  for (const auto dive : {text::kFirstLane, text::kNextLane, text::kLaneAfterKeyless,
                          text::kFirstLaneOfNextAccount, text::kFirstKeyOfNobody,
                          text::kNextKeyOfNobody, text::kQueuedByLane, text::kRunningByAccount})
    EXPECT_NE(plan(dive).find("USING COVERING INDEX idx_executions_lane"), std::string::npos)
        << dive << ": " << plan(dive);
}

TEST_F(SqlitePlans, HeldKeysAreFoundAmongTheHeldOnes) {
  for (const auto text : {sql::text::kKeysToScrub, sql::text::kScrubKeys})
    EXPECT_NE(plan(text).find("USING INDEX idx_jobs_with_key"), std::string::npos) << plan(text);
}

TEST_F(SqlitePlans, NoPageOfExecutionsScansOrSorts) {
  std::vector<ExecutionFilter> filters(1);
  filters.emplace_back().account = AccountId{"a"};
  for (const State state :
       {State::queued, State::running, State::succeeded, State::failed, State::invalid,
        State::rejected, State::cancelled, State::never_dispatched, State::killed})
    filters.emplace_back().state = state;
  for (const ExecutionFilter& filter : filters) {
    const std::string plan = this->plan(sql::text::list_executions(filter));
    EXPECT_NE(plan.find("SEARCH"), std::string::npos) << plan;
    EXPECT_EQ(plan.find("SCAN"), std::string::npos) << plan;
    EXPECT_EQ(plan.find("TEMP B-TREE"), std::string::npos) << plan;
  }
}

TEST_F(SqlitePlans, OneAccountsPageIsReadFromTheQueueOrFromItsOwnHistory) {
  ExecutionFilter filter;
  filter.account = AccountId{"a"};
  filter.state = State::queued;
  EXPECT_NE(plan(sql::text::list_executions(filter)).find("(status=?"), std::string::npos);
  for (const State state : {State::succeeded, State::failed, State::killed}) {
    filter.state = state;
    const std::string plan = this->plan(sql::text::list_executions(filter));
    EXPECT_NE(plan.find("(subdomain_hash=?"), std::string::npos) << plan;
    EXPECT_EQ(plan.find("TEMP B-TREE"), std::string::npos) << plan;
  }
}

}  // namespace
}  // namespace coderunner::contract
