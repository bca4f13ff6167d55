// The one kind of session built so far: SQLite in WAL mode over SOCI, one file, one connection.
// Made by open_store and migrate; used by one thread at a time. Must never create a file it was not
// told to create, nor answer from a file that is no longer the one at its path.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "adapters/sql/connections.h"
#include "adapters/sql/session.h"

namespace coderunner::sql {

struct SqliteOptions {
  std::string path;
  bool create = false;  // make the file (and its folder, mode 0700) where there is none
  // Runs on every newly opened connection; its failure is the opening's. Empty: nothing.
  std::function<Result<Done>(Session&)> verify;
  // Told after a deleted write-ahead log was put back. Empty: a session that must not write, and
  // waits until another one has.
  std::function<void()> log_rescued;
  std::shared_ptr<Connections> connections;  // null: none of its store has another in this process
};

// Still closed: ensure_usable() opens it, and answers `corrupt` for a file that is no database.
// Never waits: a lock of another connection is `unavailable`, and was_busy() says so.
std::unique_ptr<Session> make_sqlite_session(SqliteOptions options);

// "sqlite:PATH" -> PATH; invalid_input on anything else.
Result<std::string> sqlite_path(const std::string& url);

}  // namespace coderunner::sql
