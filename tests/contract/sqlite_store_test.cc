// What only a store in a file can do: be migrated, be newer, be broken, be locked, go away.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/contract/sqlite_files.h"

namespace coderunner::contract {
namespace {

namespace fs = std::filesystem;

NewExecution fresh(const std::string& ref) {
  NewExecution fresh;
  fresh.ref = {ref};
  fresh.account = "acme";
  fresh.account_id = {"acme"};
  fresh.key = {"k1"};
  fresh.source = "log('x')";
  fresh.queued_at = kNoon;
  return fresh;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

class SqliteStore : public testing::Test {
 protected:
  sql::MigrateOptions migration(bool dry_run) {
    sql::MigrateOptions options;
    options.url = file.url();
    options.dry_run = dry_run;
    options.pause = [this](Millis length) { file.clock.advance(length); };
    return options;
  }
  Result<sql::MigrationReport> migrate(bool dry_run = false) {
    return sql::migrate(migration(dry_run), file.clock, file.entropy);
  }
  Failure open_failure(bool create = true) {
    const auto opened = file.try_open(file.options(create));
    EXPECT_FALSE(opened);
    message = opened ? "" : opened.error().message;
    return opened ? Failure::internal : opened.error().kind;
  }
  void write(const std::string& bytes) {
    fs::create_directories(file.folder());
    std::ofstream{file.path(), std::ios::binary} << bytes;
  }

  SqliteFile file;
  std::string message;
};

// ---- migrations

TEST_F(SqliteStore, AMigrationMakesTheSchemaOnceAndIsThenDone) {
  const sql::MigrationReport first = *migrate();
  EXPECT_EQ(first.from, 0);
  EXPECT_EQ(first.steps.size(), static_cast<std::size_t>(first.to));
  EXPECT_EQ(first.steps.at(0), "0001_initial");
  const sql::MigrationReport again = *migrate();
  EXPECT_EQ(again.from, first.to);
  EXPECT_TRUE(again.steps.empty());
  EXPECT_EQ(file.session()->query("SELECT applied_at FROM schema_version")->at(0).text(0),
            to_sql(kNoon));
}

TEST_F(SqliteStore, ADryRunSaysWhatIsDueAndWritesNothing) {
  const sql::MigrationReport due = *migrate(true);
  EXPECT_EQ(due.steps.at(0), "0001_initial");
  EXPECT_FALSE(fs::exists(file.path()));
  file.open();
  EXPECT_TRUE(migrate(true)->steps.empty());
}

TEST_F(SqliteStore, ANewerSchemaIsRefusedWithBothVersionsAndLeftAlone) {
  file.open();
  ASSERT_TRUE(file.session()->execute("INSERT INTO schema_version VALUES (99, 'later')"));
  const std::string before = bytes_of(file.path());
  EXPECT_EQ(open_failure(), Failure::invalid_input);
  EXPECT_NE(message.find("99"), std::string::npos) << message;
  const int known = sql::sqlite_migrations().back().version;
  EXPECT_NE(message.find("knows up to " + std::to_string(known)), std::string::npos) << message;
  EXPECT_NE(message.find(file.path()), std::string::npos) << message;
  EXPECT_EQ(migrate().error().kind, Failure::invalid_input);
  EXPECT_EQ(bytes_of(file.path()), before);
}

TEST_F(SqliteStore, AnotherProgramsDatabaseIsRefusedAndLeftAlone) {
  fs::create_directories(file.folder());
  ASSERT_TRUE(file.session()->execute("CREATE TABLE notes (text)"));
  const std::string before = bytes_of(file.path());
  EXPECT_EQ(open_failure(), Failure::invalid_input);
  EXPECT_EQ(migrate().error().kind, Failure::invalid_input);
  EXPECT_EQ(bytes_of(file.path()), before);
}

TEST_F(SqliteStore, AnOldSchemaIsRefusedWhereNobodyMayMigrateIt) {
  file.session();
  EXPECT_EQ(open_failure(false), Failure::invalid_input);
  EXPECT_NE(message.find("coderunner migrate"), std::string::npos) << message;
}

TEST_F(SqliteStore, AMissingFileIsNotMadeUnlessAskedFor) {
  EXPECT_EQ(open_failure(false), Failure::unavailable);
  EXPECT_FALSE(fs::exists(file.path()));
  file.open(true);
  EXPECT_TRUE(fs::exists(file.path()));
  file.open(false);
}

TEST_F(SqliteStore, ANewFolderIsForItsOwnerAlone) {
  file.open();
  EXPECT_EQ(fs::status(file.folder()).permissions(), fs::perms::owner_all);
}

TEST_F(SqliteStore, AUrlThatIsNoSqliteUrlIsInvalid) {
  sql::StoreOptions options = file.options();
  for (const char* url : {"", "sqlite:", "mysql://x@y/z", "store.db"}) {
    options.url = url;
    EXPECT_EQ(file.try_open(options).error().kind, Failure::invalid_input) << url;
  }
}

TEST_F(SqliteStore, APathMayHoldSpacesAndQuotes) {
  sql::StoreOptions options = file.options();
  options.url = "sqlite:" + (file.folder() / "it's a store; really=1.db").string();
  const auto opened = file.try_open(options);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_TRUE(fs::exists(file.folder() / "it's a store; really=1.db"));
}

// ---- broken files

TEST_F(SqliteStore, AFileThatIsNoDatabaseIsCorruptByNameAndLeftAlone) {
  const std::string text(5000, 'n');
  write(text);
  EXPECT_EQ(open_failure(), Failure::corrupt);
  EXPECT_NE(message.find(file.path()), std::string::npos) << message;
  EXPECT_EQ(migrate().error().kind, Failure::corrupt);
  EXPECT_EQ(bytes_of(file.path()), text);
}

TEST_F(SqliteStore, ATruncatedDatabaseIsCorrupt) {
  file.open();
  const std::string whole = bytes_of(file.path());
  ASSERT_GT(whole.size(), 8192U);
  write(whole.substr(0, 6000));
  EXPECT_EQ(open_failure(), Failure::corrupt);
  EXPECT_NE(message.find(file.path()), std::string::npos) << message;
}

TEST_F(SqliteStore, ADamagedPageIsCorruptWhenItIsRead) {
  { ASSERT_TRUE(admit_and_wait(file.open()->admission(), fresh("one"))); }
  std::string bytes = bytes_of(file.path());
  for (std::size_t at = 4096 * 2; at < bytes.size(); ++at) bytes[at] = static_cast<char>(0xA5);
  write(bytes);
  const auto opened = file.try_open(file.options(false));
  const Failure kind = opened ? (*opened)->dispatch().lanes(2).error().kind : opened.error().kind;
  EXPECT_EQ(kind, Failure::corrupt);
}

// ---- locked, away, back

TEST_F(SqliteStore, AStoreLockedByAnotherProgramIsUnavailableAndOpensLater) {
  file.open();
  const auto other = file.session();
  ASSERT_TRUE(other->query("PRAGMA locking_mode = EXCLUSIVE"));
  ASSERT_TRUE(other->execute("BEGIN EXCLUSIVE"));
  EXPECT_EQ(open_failure(), Failure::unavailable);
  ASSERT_TRUE(other->execute("COMMIT"));
  ASSERT_TRUE(other->query("PRAGMA locking_mode = NORMAL"));
  ASSERT_TRUE(other->query("SELECT count(*) FROM schema_version"));
  file.open();
}

TEST_F(SqliteStore, AWriterOfAnotherProgramIsWaitedForAndThenUnavailable) {
  const auto store = file.open();
  const auto other = file.session();
  ASSERT_TRUE(other->execute("BEGIN IMMEDIATE"));
  const auto refused = admit_and_wait(store->admission(), fresh("one"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Failure::unavailable);
  EXPECT_GE(file.clock.utc_now() - kNoon, limits::kStoreWaitBudget);
  EXPECT_TRUE(store->view().executions({})) << "a reader waits for no writer";
  EXPECT_TRUE(file.try_open(file.options())) << "nor does an opening";
  ASSERT_TRUE(other->execute("COMMIT"));
  EXPECT_TRUE(admit_and_wait(store->admission(), fresh("one")));
}

TEST_F(SqliteStore, AStoreThatGoesAwayIsUnavailableAndIsFoundAgain) {
  const auto store = file.open();
  ASSERT_TRUE(admit_and_wait(store->admission(), fresh("one")));
  const fs::path away = file.folder().string() + ".away";
  fs::rename(file.folder(), away);
  EXPECT_EQ(admit_and_wait(store->admission(), fresh("two")).error().kind, Failure::unavailable);
  EXPECT_EQ(store->view().executions({}).error().kind, Failure::unavailable);
  EXPECT_EQ(store->dispatch().lanes(1).error().kind, Failure::unavailable);
  EXPECT_FALSE(fs::exists(file.path())) << "nothing is made in its place";
  fs::rename(away, file.folder());
  EXPECT_TRUE(admit_and_wait(store->admission(), fresh("two")));
  EXPECT_EQ(store->view().executions({})->size(), 2U);
}

TEST_F(SqliteStore, ADeletedStoreAcknowledgesNothingMore) {
  const auto store = file.open();
  ASSERT_TRUE(admit_and_wait(store->admission(), fresh("one")));
  fs::remove_all(file.folder());
  EXPECT_EQ(admit_and_wait(store->admission(), fresh("two")).error().kind, Failure::unavailable);
  fs::create_directories(file.folder());
  write("");  // an empty file in its place is not the store either
  EXPECT_EQ(admit_and_wait(store->admission(), fresh("two")).error().kind, Failure::unavailable);
}

TEST_F(SqliteStore, ADeletedLogIsPutBackByTheNextWriterAndFoundByEveryOther) {
  const auto first = file.open(), second = file.open();
  ASSERT_TRUE(admit_and_wait(first->admission(), fresh("one")));
  ASSERT_TRUE(admit_and_wait(second->admission(), fresh("two")));
  const auto before = fs::status(file.path()).permissions();
  fs::remove(file.path() + "-wal");
  std::ofstream{file.path() + "-wal.rescued"} << "half a copy of one that died";
  EXPECT_EQ(first->view().executions({}).error().kind, Failure::unavailable)
      << "a reader waits for a writer";
  EXPECT_TRUE(admit_and_wait(second->admission(), fresh("three")));
  EXPECT_TRUE(admit_and_wait(first->admission(), fresh("four")));
  EXPECT_TRUE(admit_and_wait(second->admission(), fresh("five")));
  for (auto* store : {first.get(), second.get()})
    EXPECT_EQ(store->view().executions({})->size(), 5U);
  EXPECT_EQ(file.open()->view().executions({})->size(), 5U);
  EXPECT_EQ(fs::status(file.path() + "-wal").permissions(), before);
  EXPECT_EQ(std::ranges::count(file.events.names(), "log_put_back"), 1);
}

TEST_F(SqliteStore, WhereTheIndexIsGoneTooTheLogIsKeptInTheDatabase) {
  const auto store = file.open();
  ASSERT_TRUE(admit_and_wait(store->admission(), fresh("one")));
  ASSERT_TRUE(store->view().executions({})) << "a reader holds the index too";
  fs::remove(file.path() + "-wal");
  fs::remove(file.path() + "-shm");
  EXPECT_TRUE(admit_and_wait(store->admission(), fresh("two")));
  EXPECT_EQ(store->view().executions({})->size(), 2U);
  EXPECT_TRUE(fs::exists(file.path() + "-shm")) << "it still works with the deleted index";
}

TEST_F(SqliteStore, AnErrorNeverQuotesWhatWasBound) {
  const auto store = file.open();
  NewExecution secret = fresh("one");
  secret.sealed_key = "the-sealed-key";
  secret.source = "the-source";
  ASSERT_TRUE(admit_and_wait(store->admission(), secret));
  message = admit_and_wait(store->admission(), secret).error().message;
  EXPECT_EQ(message.find("the-"), std::string::npos) << message;
}

// ---- rows of other programs

TEST_F(SqliteStore, TimesThatAnotherProgramWroteItsOwnWayStopNothing) {
  const auto store = file.open();
  const auto other = file.session();
  for (const char* time : {"2026-08-24 12:00:05", "2026-08-24T12:00:06Z", "yesterday"})
    ASSERT_TRUE(
        other->execute("INSERT INTO codeRunner_executions (subdomain_hash, status, queued_at) "
                       "VALUES ('acme', 'queued', :t)",
                       {time}));
  const auto lanes = *store->dispatch().lanes(5);
  ASSERT_EQ(lanes.size(), 1U);
  std::vector<UtcTime> times;
  for (const LaneRow& row : lanes[0].rows) times.push_back(row.queued_at);
  using namespace std::chrono_literals;
  EXPECT_EQ(times, (std::vector{kNoon + 5s, kNoon + 6s, UtcTime{}}));
}

TEST_F(SqliteStore, WhatAnotherProgramLeftUnreadableIsShownReadable) {
  const auto store = file.open();
  const auto other = file.session();
  ASSERT_TRUE(other->execute(
      "INSERT INTO codeRunner_executions (subdomain, subdomain_hash, status, error_message, "
      "queued_at) VALUES (:n, 'acme', 'odd', :m, '2026-08-24 12:00:00')",
      {"a\xFF", "m\xFF"}));
  ASSERT_TRUE(
      other->execute("INSERT INTO codeRunner_logs (execution_id, at, level, message, "
                     "api_call) VALUES (1, '2026-08-24 12:00:00', 'info', 'm', 'GET /x')"));
  const Execution row = store->view().execution({1})->value();
  EXPECT_EQ(row.account, "a\xEF\xBF\xBD");
  EXPECT_EQ(row.error_message, "m\xEF\xBF\xBD");
  EXPECT_EQ(row.state(), State::failed);
  EXPECT_EQ(store->view().logs({1}, {0}, 9)->at(0).call, std::nullopt);
}

TEST_F(SqliteStore, ABlobWhereATextBelongsEndsTheSkipScanAndHidesNobody) {
  const auto store = file.open();
  const auto raw = file.session();
  for (const char* row : {"'acme', 'k1'", "x'c0ffee', 'k1'", "'acme', x'c0ffee'", "x'c0ffef', NULL",
                          "'beta', 'k2'", "NULL, 'k0'", "NULL, 'k3'"})
    ASSERT_TRUE(raw->execute(
        std::string{"INSERT INTO codeRunner_executions (subdomain_hash, apikey_hash, status, "
                    "queued_at) VALUES ("} +
        row + ", 'queued', '2026-08-24 12:00:00.000')"));
  const auto lanes = store->dispatch().lanes(2);
  ASSERT_TRUE(lanes);
  ASSERT_EQ(lanes->size(), 4U) << "two of nobody's";
  EXPECT_EQ((*lanes)[1].key, ApiKeyHash{"k3"});
  EXPECT_EQ((*lanes)[2].account, AccountId{"acme"});
  EXPECT_EQ((*lanes)[2].key, ApiKeyHash{"k1"});
  EXPECT_EQ((*lanes)[3].account, AccountId{"beta"});
}

TEST_F(SqliteStore, AFileWithASecondNameIsRefused) {
  file.open().reset();
  std::filesystem::create_hard_link(file.path(), file.folder() / "second.db");
  const auto opened = file.try_open(file.options());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, Failure::invalid_input);
  EXPECT_NE(opened.error().message.find("hard link"), std::string::npos);
}

TEST_F(SqliteStore, AStoreThatWasCutToNothingLosesNothingThatIsAcknowledgedAfterwards) {
  const auto store = file.open();
  ASSERT_TRUE(admit_and_wait(store->admission(), fresh("one")));
  ASSERT_TRUE(store->view().executions({}));  // a reader keeps the log from going into the file
  std::filesystem::resize_file(file.path(), 0);
  const auto after = admit_and_wait(store->admission(), fresh("two"));
  const auto seen =
      file.session()->query("SELECT count(*) FROM codeRunner_jobs WHERE admission_ref = 'two'", {});
  const bool is_there = seen && seen->front().number(0) == 1;
  EXPECT_EQ(after.has_value(), is_there);
}

}  // namespace
}  // namespace coderunner::contract
