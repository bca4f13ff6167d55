// The store's schema, forward only: the steps compiled in from sql/, what a store holds of them,
// and their application, each in one transaction. Called by open_store and the migrate command.
// Must never write to a file that is not a CodeRunner store or is newer than this program.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/sql/busy_wait.h"
#include "adapters/sql/session.h"

namespace coderunner::sql {

struct Migration {
  int version = 0;
  std::string_view name;  // "0001_initial"
  std::string_view text;
};

// In order; made by the build from sql/sqlite/NNNN_name.sql.
std::span<const Migration> sqlite_migrations();

// 0 for an empty file. invalid_input where other tables stand in it.
Result<int> stored_version(Session& session);

// Passes a store of this program's version, and sees that it is in WAL mode. invalid_input, with
// both versions and what to do, for any other.
Result<Done> check_schema(Session& session);

struct MigrationReport {
  int from = 0;
  int to = 0;
  std::vector<std::string> steps;  // applied, or due where it was a dry run
  bool dry_run = false;
  friend bool operator==(const MigrationReport&, const MigrationReport&) = default;
};

// `session` is usable and has no check of its own. Several processes may migrate at once: each step
// looks again inside its transaction.
Result<MigrationReport> apply_migrations(Session& session, const BusyWait& wait, UtcTime now,
                                         bool dry_run);

}  // namespace coderunner::sql
