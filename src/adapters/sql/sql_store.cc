#include "adapters/sql/sql_store.h"

#include <fmt/format.h>

#include <filesystem>

#include "adapters/sql/sqlite_session.h"

namespace coderunner::sql {
namespace {

Result<Done> become_usable(Session& session, const BusyWait& wait) {
  return wait.until_free(session, [&session] { return session.ensure_usable(); });
}

// What an opening says: which file, and what to do about one that will never open.
bool has_two_names(const std::string& path) {
  std::error_code failed;
  return std::filesystem::hard_link_count(path, failed) > 1 && !failed;
}

Error naming(const std::string& path, const Error& error) {
  const bool named = error.message.find(path) != std::string::npos;
  std::string message = named ? error.message : fmt::format("{}: {}", path, error.message);
  if (error.kind == Failure::corrupt)
    message +=
        "; the file is damaged or no store and was left as it is: put a backup in its place "
        "(docs/operations.md), or move it away to begin an empty store";
  return fail(error.kind, std::move(message));
}

// At run time a wrong schema is an outage like any other: somebody put another file in place, and
// may put the right one back.
Result<Done> check_again(Session& session) {
  auto checked = check_schema(session);
  if (!checked && checked.error().kind == Failure::invalid_input)
    return fail(Failure::unavailable, checked.error().message);
  return checked;
}

}  // namespace

SqlStore::SqlStore(Parts parts, Events& events)
    : connections_(std::move(parts.connections)),
      writer_(std::move(parts.writer), events),
      readers_(std::move(parts.make_reader), std::move(parts.reader_wait), parts.readers),
      admission_(writer_),
      dispatch_(writer_, readers_, parts.gate),
      ledger_(writer_, readers_),
      reaper_(writer_, readers_, parts.gate),
      view_(readers_),
      gates_(writer_, readers_, parts.gate),
      control_(writer_, readers_) {
  if (connections_) connections_->set_close_idle([this] { readers_.close_idle(); });
}

SqlStore::~SqlStore() {
  if (connections_) connections_->set_close_idle({});
}

Result<std::unique_ptr<SqlStore>> open_store(const StoreOptions& options, const Clock& clock,
                                             Entropy& entropy, Events& events) {
  const auto path = sqlite_path(options.url);
  if (!path) return path.error();
  const BusyWait wait{clock, entropy, options.pause, options.wait};
  if (has_two_names(*path))
    return fail(Failure::invalid_input,
                fmt::format("{}: the file has another name (a hard link): two daemons could serve "
                            "it, each with a log of its own, and one would lose what it took in; "
                            "copy it with VACUUM INTO and remove one name",
                            *path));

  const auto first = make_sqlite_session({*path, options.create, {}, {}, {}});
  auto ready = become_usable(*first, wait);
  if (ready && options.create)
    if (const auto migrated = apply_migrations(*first, wait, clock.utc_now(), false); !migrated)
      ready = migrated.error();
  if (ready) ready = wait.until_free(*first, [&first] { return check_schema(*first); });
  if (!ready) return naming(*path, ready.error());

  const SqliteOptions lasting{*path, false, check_again, {}, std::make_shared<Connections>()};
  SqliteOptions for_writing = lasting;
  for_writing.log_rescued = [&events, name = *path] {
    events.record({Level::error, "log_put_back", std::nullopt, {{"store", name}}});
  };
  auto writing = make_sqlite_session(std::move(for_writing));
  if (const auto usable = become_usable(*writing, wait); !usable)
    return naming(*path, usable.error());
  SqlStore::Parts parts{
      {std::move(writing), wait, std::make_unique<Waiters>(*path), options.writer},
      [lasting] { return make_sqlite_session(lasting); },
      wait,
      options.readers,
      lasting.connections,
      options.gate};
  return std::make_unique<SqlStore>(std::move(parts), events);
}

Result<MigrationReport> migrate(const MigrateOptions& options, const Clock& clock,
                                Entropy& entropy) {
  const auto path = sqlite_path(options.url);
  if (!path) return path.error();
  const BusyWait wait{clock, entropy, options.pause, options.wait};
  std::error_code ignored;
  if (options.dry_run && !std::filesystem::exists(*path, ignored)) {
    MigrationReport due{0, sqlite_migrations().back().version, {}, true};
    for (const Migration& step : sqlite_migrations()) due.steps.emplace_back(step.name);
    return due;
  }
  const auto session = make_sqlite_session({*path, !options.dry_run, {}, {}, {}});
  if (const auto usable = become_usable(*session, wait); !usable)
    return naming(*path, usable.error());
  auto report = apply_migrations(*session, wait, clock.utc_now(), options.dry_run);
  if (!report) return naming(*path, report.error());
  return report;
}

}  // namespace coderunner::sql
