#include "adapters/sql/migrations.h"

#include <fmt/format.h>

namespace coderunner::sql {
namespace {

int newest_version() { return sqlite_migrations().back().version; }

Error newer_than_this_program(int stored) {
  return fail(Failure::invalid_input,
              fmt::format("the store has schema {}, this program knows up to {}: start the newer "
                          "program, or point store.url at another store",
                          stored, newest_version()));
}

// Whole-line comments go, then each statement ends with a semicolon at the end of its line.
std::vector<std::string> statements_of(std::string_view text) {
  std::vector<std::string> statements;
  std::string statement;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty() || line.starts_with("--")) continue;
    statement.append(line).push_back('\n');
    if (line.ends_with(';')) statements.push_back(std::exchange(statement, {}));
  }
  return statements;
}

Result<Done> write_ahead_log(Session& session) {
  const auto mode = session.query("PRAGMA journal_mode");
  if (!mode) return mode.error();
  if (mode->at(0).text(0) == "wal") return Done{};
  const auto set = session.query("PRAGMA journal_mode = WAL");
  if (!set) return set.error();
  if (set->at(0).text(0) == "wal") return Done{};
  return fail(Failure::invalid_input,
              "the store's file system has no shared memory for SQLite's write-ahead log: put the "
              "store on a local disk");
}

Result<Done> run_step(Session& session, const Migration& step, UtcTime now) {
  for (const std::string& statement : statements_of(step.text))
    if (const auto ran = session.execute(statement); !ran)
      return fail(ran.error().kind,
                  fmt::format("migration {}: {}", step.name, ran.error().message));
  const auto noted =
      session.execute("INSERT INTO schema_version (version, applied_at) VALUES (:version, :now)",
                      {step.version, now});
  if (!noted) return noted.error();
  return Done{};
}

// Whether it was this process that took the step.
Result<bool> take_step(Session& session, const Migration& step, UtcTime now) {
  if (const auto begun = session.execute("BEGIN IMMEDIATE"); !begun) return begun.error();
  const auto apply = [&]() -> Result<bool> {
    const auto standing = stored_version(session);
    if (!standing) return standing.error();
    if (*standing >= step.version) return false;
    const auto table = session.execute(
        "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY, "
        "applied_at TEXT NOT NULL)");
    if (!table) return table.error();
    if (const auto ran = run_step(session, step, now); !ran) return ran.error();
    // Crash window migration-uncommitted: the schema is as it was before the step.
    if (const auto committed = session.execute("COMMIT"); !committed) return committed.error();
    return true;
  };
  auto applied = apply();
  if (session.in_transaction()) static_cast<void>(session.execute("ROLLBACK"));
  return applied;
}

}  // namespace

Result<int> stored_version(Session& session) {
  const auto tables = session.query(
      "SELECT sum(name = 'schema_version'), count(*) FROM sqlite_master WHERE type = 'table' "
      "AND name NOT LIKE 'sqlite_%'");
  if (!tables) return tables.error();
  const Row& found = tables->at(0);
  if (found.number(1) == 0) return 0;
  if (found.number(0) == 0)
    return fail(Failure::invalid_input,
                "store.url names a database with other tables and no schema_version: it is not a "
                "CodeRunner store, and is left as it is");
  const auto newest = session.query("SELECT max(version) FROM schema_version");
  if (!newest) return newest.error();
  return static_cast<int>(newest->at(0).number(0));
}

Result<Done> check_schema(Session& session) {
  const auto stored = stored_version(session);
  if (!stored) return stored.error();
  if (*stored > newest_version()) return newer_than_this_program(*stored);
  if (*stored < newest_version())
    return fail(Failure::invalid_input,
                fmt::format("the store has schema {}, this program needs {}: run `coderunner "
                            "migrate`",
                            *stored, newest_version()));
  return write_ahead_log(session);
}

Result<MigrationReport> apply_migrations(Session& session, const BusyWait& wait, UtcTime now,
                                         bool dry_run) {
  const auto from = wait.until_free(session, [&] { return stored_version(session); });
  if (!from) return from.error();
  if (*from > newest_version()) return newer_than_this_program(*from);
  MigrationReport report{*from, newest_version(), {}, dry_run};
  if (!dry_run)
    if (const auto mode = wait.until_free(session, [&] { return write_ahead_log(session); }); !mode)
      return mode.error();
  for (const Migration& step : sqlite_migrations()) {
    if (step.version <= *from) continue;
    const auto taken =
        dry_run ? Result<bool>{true}
                : wait.until_free(session, [&] { return take_step(session, step, now); });
    if (!taken) return taken.error();
    if (*taken) report.steps.emplace_back(step.name);
  }
  return report;
}

}  // namespace coderunner::sql
