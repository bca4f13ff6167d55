#include "adapters/sql/sqlite_session.h"

#include <fmt/format.h>
#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <system_error>
#include <unordered_map>

#include "adapters/sql/log_files.h"

namespace coderunner::sql {
namespace {

// A failed statement or a vanished file makes the connection worthless; a lock, a constraint or a
// full disk does not.
bool breaks_session(int code) {
  switch (code) {
    case SQLITE_IOERR:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PROTOCOL: return true;
    default: return false;
  }
}

Failure kind_of(int code) {
  switch (code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_IOERR:
    case SQLITE_FULL:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PROTOCOL:
    case SQLITE_PERM:
    case SQLITE_NOMEM:
    case SQLITE_INTERRUPT: return Failure::unavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return Failure::corrupt;
    case SQLITE_CONSTRAINT: return Failure::conflict;
    default: return Failure::internal;
  }
}

// A prepared text with the places its values and columns live in: SOCI binds by reference.
class KeptStatement {
 public:
  KeptStatement(soci::session& session, std::string_view text, const Values& values)
      : statement_(session) {
    statement_.alloc();
    statement_.prepare(std::string{text});
    for (const Value& value : values) bind(value);
    const int columns = statement_.get_backend()->prepare_for_describe();
    for (int column = 0; column < columns; ++column)
      statement_.exchange(
          soci::into(cells_.emplace_back(), cell_indicators_.emplace_back(soci::i_ok)));
    statement_.define_and_bind();
  }

  // Whether `values` fit the types it was made for.
  bool fits(const Values& values) const {
    if (values.size() != slots_.size()) return false;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!values[i].is_null() && (values[i].number() != nullptr) != slots_[i].is_number)
        return false;
    return true;
  }

  void load(const Values& values) {
    for (std::size_t i = 0; i < values.size(); ++i) load(slots_[i], values[i]);
  }

  std::int64_t run() {
    statement_.execute(true);
    return statement_.get_affected_rows();
  }

  Rows rows() {
    Rows rows;
    statement_.execute(false);
    while (statement_.fetch()) {  // to the end: an open cursor pins the snapshot (rulings 29)
      std::vector<Row::Cell> cells(cells_.size());
      for (std::size_t i = 0; i < cells_.size(); ++i)
        if (cell_indicators_[i] != soci::i_null) cells[i] = cells_[i];
      rows.emplace_back(std::move(cells));
    }
    return rows;
  }

 private:
  struct Slot {
    bool is_number = false;
    long long number = 0;
    std::string text;
    soci::indicator indicator = soci::i_ok;
  };

  void bind(const Value& value) {
    Slot& slot = slots_.emplace_back();
    slot.is_number = value.number() != nullptr;
    load(slot, value);
    if (slot.is_number)
      statement_.exchange(soci::use(slot.number, slot.indicator));
    else
      statement_.exchange(soci::use(slot.text, slot.indicator));
  }

  static void load(Slot& slot, const Value& value) {
    slot.indicator = value.is_null() ? soci::i_null : soci::i_ok;
    if (const auto* number = value.number()) slot.number = *number;
    if (const auto* text = value.text()) slot.text = *text;
  }

  soci::statement statement_;
  std::deque<Slot> slots_;
  std::deque<std::string> cells_;
  std::deque<soci::indicator> cell_indicators_;
};

class SqliteSession final : public Session {
 public:
  explicit SqliteSession(SqliteOptions options) : options_(std::move(options)) {}
  SqliteSession(const SqliteSession&) = delete;
  SqliteSession& operator=(const SqliteSession&) = delete;
  ~SqliteSession() override { close(); }

  Result<std::int64_t> execute(std::string_view text, const Values& values) override {
    auto answer =
        guarded<std::int64_t>(text, values, [](KeptStatement& kept) { return kept.run(); });
    if (answer && text == "COMMIT" && !is_in_place())
      return not_open("the file or its log was taken away during the commit");
    return answer;
  }

  Result<std::int64_t> insert(std::string_view text, const Values& values) override {
    return guarded<std::int64_t>(text, values, [this](KeptStatement& kept) {
      kept.run();
      return std::int64_t{sqlite_api::sqlite3_last_insert_rowid(raw())};
    });
  }

  Result<Rows> query(std::string_view text, const Values& values) override {
    return guarded<Rows>(text, values, [](KeptStatement& kept) { return kept.rows(); });
  }

  bool in_transaction() const override {
    return session_ && sqlite_api::sqlite3_get_autocommit(raw()) == 0;
  }

  bool was_busy() const override { return busy_; }

  Result<Done> ensure_usable() override {
    if (session_ && !in_transaction() && !has_moved())
      if (auto kept = keep_log(); !kept) return kept;
    if (session_ && !broken_ && !in_transaction() && is_in_place() && !is_draining()) return Done{};
    close();
    auto opened = open();
    if (!opened) close();
    return opened;
  }

 private:
  template <class T, class Use>
  Result<T> guarded(std::string_view text, const Values& values, Use use) {
    if (!session_) return not_open("the store is not open");
    try {
      return use(kept(text, values));
    } catch (const soci::sqlite3_soci_error& error) {
      return translate(text, error.result());
    } catch (const std::exception&) {
      kept_.erase(std::string{text});
      busy_ = false;
      // what() of the library quotes bound values: it must not travel
      return fail(Failure::internal, options_.path + ": the SQL layer refused a statement");
    }
  }

  Error translate(std::string_view text, int result) {
    kept_.erase(std::string{text});
    const int code = result & 0xFF;  // the primary code
    busy_ = code == SQLITE_BUSY || code == SQLITE_LOCKED;
    broken_ = broken_ || breaks_session(code);
    // What could not be synced stands in the log all the same, whole, and is read by whoever opens
    // the store after the last of us was killed, unless a later commit overwrites it.
    const bool may_surface = text == "COMMIT" && code == SQLITE_IOERR;
    return fail(may_surface ? Failure::unknown_outcome : kind_of(code),
                fmt::format("{}: {}", options_.path, sqlite_api::sqlite3_errstr(code)));
  }

  Error not_open(std::string_view why) {
    busy_ = false;
    return fail(Failure::unavailable, fmt::format("{}: {}", options_.path, why));
  }

  KeptStatement& kept(std::string_view text, const Values& values) {
    const std::string key{text};
    const auto found = kept_.find(key);
    if (found != kept_.end() && found->second->fits(values)) {
      found->second->load(values);
      return *found->second;
    }
    auto made = std::make_unique<KeptStatement>(*session_, text, values);
    return *(kept_[key] = std::move(made));
  }

  Result<Done> open() {
    namespace fs = std::filesystem;
    std::error_code ignored;
    if (!options_.create && !fs::exists(options_.path, ignored))
      return not_open("there is no such store");
    if (options_.create) make_folder();
    if (!enter()) return close_again();
    if (is_scrap()) return fail(Failure::corrupt, options_.path + ": file is not a database");
    // SQLite would make its log and index as unwritable as the file is, and they would stay so.
    if (fs::exists(options_.path, ignored) && ::access(options_.path.c_str(), W_OK) != 0)
      return not_open("this user may not write it");
    try {
      // no busy time-out: waiting is the caller's, in an order of its own (rulings 29)
      session_ = std::make_unique<soci::session>(
          soci::sqlite3, fmt::format("dbname=\"{}\" timeout=0", options_.path));
    } catch (const soci::sqlite3_soci_error& error) {
      return translate("", error.result());
    } catch (const std::exception&) {
      return not_open("the store can not be opened");
    }
    broken_ = false;
    for (const std::string_view setting :
         {"PRAGMA synchronous = FULL", "PRAGMA foreign_keys = OFF", "PRAGMA temp_store = MEMORY",
          "PRAGMA journal_size_limit = 67108864"})
      if (auto set = query(setting, {}); !set) return set.error();
    if (options_.verify)
      if (auto verified = options_.verify(*this); !verified) return verified;
    const bool both = log_files_.remember(sqlite_api::sqlite3_db_filename(raw(), "main"),
                                          options_.connections.get());
    if (!options_.connections || (both && is_in_place())) return Done{};
    static_cast<void>(drain());  // an older connection keeps an index that was taken away
    return close_again();
  }

  // A file too short for any header: SQLite takes it for an empty one, and writes over it.
  bool is_scrap() const {
    constexpr std::uintmax_t kSmallestDatabase = 512;  // one page of the smallest size
    std::error_code failed;
    const std::uintmax_t size = std::filesystem::file_size(options_.path, failed);
    return !failed && size > 0 && size < kSmallestDatabase;
  }

  void make_folder() const {
    namespace fs = std::filesystem;
    const fs::path folder = fs::path{options_.path}.parent_path();
    std::error_code failed;  // what can not be made is met, and named, by the opening itself
    if (folder.empty() || !fs::create_directories(folder, failed)) return;
    fs::permissions(folder, fs::perms::owner_all, failed);
  }

  // SQLite would go on writing to an unlinked file, and what it acknowledges would be gone.
  bool has_moved() const {
    int moved = 0;
    sqlite_api::sqlite3_file_control(raw(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return moved != 0;
  }

  bool is_in_place() const {
    return !has_moved() && !is_emptied() && log_files_.state() == LogFiles::State::same;
  }

  // Cut to nothing in its place by somebody: what is still written goes into a log without a store.
  bool is_emptied() const {
    std::error_code failed;
    return std::filesystem::file_size(options_.path, failed) == 0 && !failed;
  }

  // Before a connection is given up for another one: what was acknowledged may be in its log alone.
  Result<Done> keep_log() {
    using State = LogFiles::State;
    const State state = log_files_.state();
    if (state == State::same || state == State::log_replaced) return Done{};
    if (state == State::index_replaced) return drain();
    if (!options_.log_rescued) {
      if (state == State::all_gone) {  // or the writer could not leave the old index
        static_cast<void>(drain());
        close();
      }
      return not_open("its write-ahead log was taken away");
    }
    auto kept = state == State::log_gone ? put_log_back() : move_log_into_database();
    if (!kept) return kept;
    options_.log_rescued();
    return state == State::all_gone ? drain() : kept;
  }

  Result<Done> drain() {
    if (options_.connections) options_.connections->drain();
    return Done{};
  }
  bool is_draining() const { return options_.connections && options_.connections->is_draining(); }

  // Under the write lock, which is the index's: whoever still works with it commits nothing now.
  Result<Done> put_log_back() {
    if (const auto locked = execute("BEGIN IMMEDIATE", {}); !locked) return locked.error();
    sqlite_api::sqlite3_file* log = nullptr;
    sqlite_api::sqlite3_file_control(raw(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    auto done = log_files_.put_back(
        [this, log](char* into, std::size_t size, off_t offset) -> Result<std::size_t> {
          sqlite_api::sqlite3_int64 whole = 0;
          if (log->pMethods->xFileSize(log, &whole) != SQLITE_OK)
            return not_open("its lost log can not be read");
          const auto left = static_cast<std::size_t>(std::max<off_t>(whole - offset, 0));
          const std::size_t length = std::min(size, left);
          if (length == 0) return length;
          if (log->pMethods->xRead(log, into, static_cast<int>(length), offset) != SQLITE_OK)
            return not_open("its lost log can not be read");
          return length;
        });
    static_cast<void>(execute("ROLLBACK", {}));
    return done;
  }

  // Whoever opens the database from now on has an index, and so locks, of its own: the way back
  // leads through the database only.
  Result<Done> move_log_into_database() {
    const auto moved = query("PRAGMA wal_checkpoint(FULL)", {});
    if (!moved) return moved.error();
    if (moved->at(0).number(0) == 0) return Done{};
    auto busy = not_open("its lost log is in use");
    busy_ = true;
    return busy;
  }

  // Until the older connections of this process have ended too: a matter of milliseconds.
  Error close_again() {
    auto draining = not_open("its older connections are being closed");
    busy_ = true;
    return draining;
  }

  bool enter() {
    if (options_.connections && !entered_) entered_ = options_.connections->enter();
    return entered_ || !options_.connections;
  }

  void close() {
    kept_.clear();
    log_files_.forget();
    session_.reset();
    if (std::exchange(entered_, false)) options_.connections->leave();
  }

  // The library keeps the class's type information to itself, which the check of a cast would need.
  __attribute__((no_sanitize("vptr"))) sqlite_api::sqlite3* raw() const {
    return static_cast<soci::sqlite3_session_backend*>(session_->get_backend())->conn_;
  }

  SqliteOptions options_;
  std::unique_ptr<soci::session> session_;
  std::unordered_map<std::string, std::unique_ptr<KeptStatement>> kept_;
  LogFiles log_files_;
  bool entered_ = false;  // among options_.connections
  bool broken_ = false;
  bool busy_ = false;
};

}  // namespace

std::unique_ptr<Session> make_sqlite_session(SqliteOptions options) {
  return std::make_unique<SqliteSession>(std::move(options));
}

Result<std::string> sqlite_path(const std::string& url) {
  constexpr std::string_view kScheme = "sqlite:";
  if (!url.starts_with(kScheme) || url.size() == kScheme.size())
    return fail(Failure::invalid_input,
                fmt::format("store.url '{}' is not of the form sqlite:PATH", url));
  if (url.find('"') != std::string::npos)
    return fail(Failure::invalid_input, "the path in store.url must not hold a quotation mark");
  return url.substr(kScheme.size());
}

}  // namespace coderunner::sql
