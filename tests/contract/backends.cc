#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "adapters/sql/sql_store.h"
#include "adapters/sql/sqlite_session.h"
#include "tests/contract/backend.h"
#include "tests/contract/faulty_session.h"
#include "tests/contract/sqlite_files.h"

namespace coderunner::contract {
namespace {

// Without the date: "12:00:00.000 loopback pause acme".
std::string in_words(const std::vector<std::string>& columns) {
  std::string words;
  for (const std::string& column : columns)
    if (!column.empty()) words += (words.empty() ? "" : " ") + column;
  return words.substr(words.find(' ') + 1);
}

class MemoryBackend final : public Backend {
 public:
  AdmissionStore& admission() override { return store_; }
  DispatchStore& dispatch() override { return store_; }
  Ledger& ledger() override { return store_; }
  ReaperStore& reaper() override { return store_; }
  QueueView& view() override { return store_; }
  GateStore& gates() override { return store_; }
  ControlStore& control() override { return store_; }
  Admitted plant(const MemoryStore::Planted& row) override { return store_.plant(row); }
  void pause_account(const AccountId& account) override { store_.pause_account(account); }
  std::optional<std::string> sealed_key(JobId job) override { return store_.sealed_key(job); }
  std::optional<UtcTime> last_sweep() override { return store_.last_sweep(); }
  std::vector<std::string> audit() override {
    std::vector<std::string> entries;
    for (const AuditEntry& entry : store_.audit())
      entries.push_back(in_words({to_sql(entry.act.at), entry.act.actor,
                                  std::string{to_text(entry.deed)}, entry.subject, entry.details}));
    return entries;
  }

 private:
  MemoryStore store_;
};

// Every other COMMIT fails as told: what was answered and what is stored must come out the same.
std::unique_ptr<sql::SqlStore> open_faulty(SqliteFile& file, Fault fault) {
  static_cast<void>(file.open());  // makes the schema
  auto session = std::make_unique<FaultySession>(file.session());
  session->before_commit = [&on = *session, fault, commits = 0]() mutable {
    if (commits++ % 2 == 0) on.arm("COMMIT", fault);
  };
  const sql::BusyWait wait{
      file.clock, file.entropy, [&file](Millis length) { file.clock.advance(length); }, {}};
  return std::make_unique<sql::SqlStore>(
      sql::SqlStore::Parts{{std::move(session), wait, nullptr, sql::Writer::own_thread},
                           [&file] { return file.session(); },
                           wait,
                           limits::kStoreReaders},
      file.events);
}

class SqliteBackend final : public Backend {
 public:
  explicit SqliteBackend(std::optional<Fault> fault)
      : store_(fault ? open_faulty(file_, *fault) : file_.open()), raw_(file_.session()) {}
  AdmissionStore& admission() override { return store_->admission(); }
  DispatchStore& dispatch() override { return store_->dispatch(); }
  Ledger& ledger() override { return store_->ledger(); }
  ReaperStore& reaper() override { return store_->reaper(); }
  QueueView& view() override { return store_->view(); }
  GateStore& gates() override { return store_->gates(); }
  ControlStore& control() override { return store_->control(); }

  // As a program that knows only the columns of its own time.
  Admitted plant(const MemoryStore::Planted& row) override {
    std::optional<std::int64_t> job;
    if (row.with_job)
      job = *raw_->insert("INSERT INTO codeRunner_jobs (apikey) VALUES (:k)", {row.sealed_key});
    const auto id = *raw_->insert(
        "INSERT INTO codeRunner_executions (job_id, subdomain, subdomain_hash, status, error_code, "
        "queued_at, started_at, finished_at, apikey_hash) "
        "VALUES (:j, :n, :h, :s, :c, :q, :b, :f, :k)",
        {job, row.account, row.account_id, row.status, row.error_code, row.queued_at,
         row.started_at, row.finished_at, row.key});
    if (row.run) {
      EXPECT_TRUE(
          raw_->execute("UPDATE codeRunner_executions SET run_id = :r "
                        "WHERE execution_id = :x",
                        {*row.run, id}));
    }
    return {{id}, {job.value_or(0)}};
  }
  void pause_account(const AccountId& account) override {
    EXPECT_TRUE(raw_->execute("INSERT INTO codeRunner_pauses VALUES (:a, :t)", {account, kNoon}));
  }
  std::optional<std::string> sealed_key(JobId job) override {
    const auto rows = raw_->query("SELECT apikey FROM codeRunner_jobs WHERE job_id = :j", {job});
    return rows->empty() ? std::nullopt : rows->front().maybe_text(0);
  }
  std::optional<UtcTime> last_sweep() override {
    const auto rows = raw_->query("SELECT last_sweep FROM codeRunner_sweeps");
    EXPECT_LE(rows->size(), 1U);
    return rows->empty() ? std::nullopt : rows->front().maybe_time(0);
  }
  std::vector<std::string> audit() override {
    const auto rows = raw_->query(
        "SELECT at, actor, action, subject, details FROM codeRunner_audit ORDER BY audit_id");
    std::vector<std::string> entries;
    for (const sql::Row& row : *rows)
      entries.push_back(
          in_words({row.text(0), row.text(1), row.text(2), row.text(3), row.text(4)}));
    return entries;
  }

 private:
  SqliteFile file_;
  std::unique_ptr<sql::SqlStore> store_;
  std::unique_ptr<sql::Session> raw_;
};

}  // namespace

std::unique_ptr<Backend> make_memory_backend() { return std::make_unique<MemoryBackend>(); }
std::unique_ptr<Backend> make_sqlite_backend() {
  return std::make_unique<SqliteBackend>(std::nullopt);
}
std::unique_ptr<Backend> make_lying_backend() {
  return std::make_unique<SqliteBackend>(Fault::do_and_lie);
}
std::unique_ptr<Backend> make_losing_backend() {
  return std::make_unique<SqliteBackend>(Fault::lose);
}

SqliteFile::SqliteFile() {
  static std::atomic<int> made{0};
  folder_ = std::filesystem::path{testing::TempDir()} /
            ("coderunner-store-" + std::to_string(::getpid()) + "-" + std::to_string(made++));
  std::filesystem::remove_all(folder_);
}

SqliteFile::~SqliteFile() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

sql::StoreOptions SqliteFile::options(bool create) {
  sql::StoreOptions options;
  options.url = url();
  options.create = create;
  options.pause = [this](Millis length) { clock.advance(length); };
  return options;
}

std::unique_ptr<sql::SqlStore> SqliteFile::open(bool create) {
  auto opened = try_open(options(create));
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
  return std::move(opened).value();
}

Result<std::unique_ptr<sql::SqlStore>> SqliteFile::try_open(const sql::StoreOptions& options) {
  return sql::open_store(options, clock, entropy, events);
}

std::unique_ptr<sql::Session> SqliteFile::session() {
  auto session = sql::make_sqlite_session({path(), true, {}});
  EXPECT_TRUE(session->ensure_usable());
  return session;
}

// ---- the fixture

NewExecution StoreContract::fresh(const std::string& account, const std::string& key,
                                  Millis after_noon) {
  NewExecution fresh;
  fresh.ref = {"ref-" + std::to_string(refs++)};
  fresh.account = account;
  fresh.account_id = {account};
  fresh.key = {key};
  fresh.sealed_key = "sealed-" + key;
  fresh.source = "log('hello')";
  fresh.queued_at = kNoon + after_noon;
  return fresh;
}

Admitted StoreContract::admit(const std::string& account, const std::string& key,
                              Millis after_noon) {
  return *admit_and_wait(store->admission(), fresh(account, key, after_noon));
}

MintAnswer StoreContract::mint(const Admitted& of, const std::string& nonce, UtcTime now) {
  return *store->dispatch().mint({of.execution, of.job, {nonce}, {"drainer"}, now});
}

std::variant<Begun, BeginRefused> StoreContract::begin(JobId job, const std::string& nonce,
                                                       const std::string& run, UtcTime now) {
  return *store->ledger().begin({job, {nonce}, {run}, {"host|boot|1|2|3"}, now});
}

Admitted StoreContract::run(const std::string& account, const std::string& run_id, UtcTime now) {
  const Admitted admitted = admit(account, "key-of-" + account);
  EXPECT_EQ(mint(admitted, "nonce-" + run_id, now), MintAnswer::minted);
  EXPECT_FALSE(refused(begin(admitted.job, "nonce-" + run_id, run_id, now)));
  return admitted;
}

Execution StoreContract::row(ExecutionId id) { return store->view().execution(id)->value(); }

Result<AdmitAnswer> answer_of_admit(AdmissionStore& store, NewExecution fresh) {
  auto answered = std::make_shared<std::promise<Result<AdmitAnswer>>>();
  store.admit(std::move(fresh),
              [answered](Result<AdmitAnswer> answer) { answered->set_value(std::move(answer)); });
  return answered->get_future().get();
}

Result<Admitted> admit_and_wait(AdmissionStore& store, NewExecution fresh) {
  const auto answer = answer_of_admit(store, std::move(fresh));
  if (!answer) return answer.error();
  const auto* admitted = std::get_if<Admitted>(&*answer);
  if (admitted == nullptr) return fail(Failure::internal, "not admitted");
  return *admitted;
}

Result<ExecutionId> refuse_and_wait(AdmissionStore& store, NewRefusal refusal) {
  auto answered = std::make_shared<std::promise<Result<ExecutionId>>>();
  store.refuse(std::move(refusal),
               [answered](Result<ExecutionId> answer) { answered->set_value(std::move(answer)); });
  return answered->get_future().get();
}

// A commit of unknown outcome changes no answer (rulings 28): the last two.
INSTANTIATE_TEST_SUITE_P(On, StoreContract,
                         testing::Values(BackendChoice{"memory", make_memory_backend},
                                         BackendChoice{"sqlite", make_sqlite_backend},
                                         BackendChoice{"sqlite_lying", make_lying_backend},
                                         BackendChoice{"sqlite_losing", make_losing_backend}),
                         [](const auto& suite) { return std::string{suite.param.name}; });

}  // namespace coderunner::contract
