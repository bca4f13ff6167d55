// A store in a file of its own that is deleted with the object, and the doubles it is opened with.
#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <string>

#include "adapters/sql/sql_store.h"
#include "tests/contract/doubles.h"

namespace coderunner::contract {

class SqliteFile {
 public:
  SqliteFile();
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  std::string path() const { return folder_ / "store.db"; }
  std::string url() const { return "sqlite:" + path(); }
  const std::filesystem::path& folder() const { return folder_; }

  // A pause moves the clock, so that a wait ends without waiting.
  sql::StoreOptions options(bool create = true);
  std::unique_ptr<sql::SqlStore> open(bool create = true);
  Result<std::unique_ptr<sql::SqlStore>> try_open(const sql::StoreOptions& options);
  // Another program's connection.
  std::unique_ptr<sql::Session> session();

  SteppedClock clock;
  CountedEntropy entropy;
  KeptEvents events;

 private:
  std::filesystem::path folder_;
};

Result<AdmitAnswer> answer_of_admit(AdmissionStore& store, NewExecution fresh);
Result<Admitted> admit_and_wait(AdmissionStore& store, NewExecution fresh);  // expects to be let in
Result<ExecutionId> refuse_and_wait(AdmissionStore& store, NewRefusal refusal);

}  // namespace coderunner::contract
