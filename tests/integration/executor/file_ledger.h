// A ledger and a gate store in a folder, shared by the processes of one test pool: files appear by
// link() and rename(), so each verb is as atomic as its SQL. A file named "away" makes every call
// fail.
#pragma once

#include <filesystem>
#include <string>

#include "seams/gate_store.h"
#include "seams/store.h"

namespace coderunner::executor_test {

class FileLedger final : public Ledger {
 public:
  explicit FileLedger(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // ---- the test's side. A job and its execution have one number.
  void admit(int number, const std::string& source) const;
  std::string outcome(int number) const;  // "success", "303 wall: ...", empty while unfinished
  std::string log(int number) const;      // one line each: "level message"
  std::string run_of(int number) const;   // empty until begun
  int begins(int number) const;
  void set_away(bool away) const;
  // The process that begins it dies by SIGKILL, on this side of the commit.
  enum class Death { before_commit, after_commit };
  void kill_whoever_begins(int number, Death death) const;

  // ---- the executor's
  Result<std::variant<Begun, BeginRefused>> begin(const Begin& begin) override;
  Result<FinishAnswer> finish(ExecutionId execution, const RunId& run, const Outcome& outcome,
                              UtcTime now) override;
  Result<Done> append_log(ExecutionId execution, const std::vector<LogLine>& lines) override;
  Result<AnnounceAnswer> announce(ExecutionId execution, const RunId& run,
                                  const std::vector<LogLine>& lines) override;
  Result<std::vector<std::string>> sent_changes(ExecutionId execution) override;

 private:
  std::filesystem::path file(std::int64_t number, const char* what) const;
  bool is_away() const;
  void die_if_told(std::int64_t number, const char* when) const;
  std::filesystem::path folder_;
};

class NoGates final : public GateStore {
 public:
  Result<Gate> close(const Gate& seen, UtcTime) override { return seen; }
  Result<std::vector<Gate>> closed(UtcTime) override { return std::vector<Gate>{}; }
  Result<std::optional<Gate>> closed(const ApiKeyHash&, UtcTime) override {
    return std::optional<Gate>{};
  }
  Result<std::optional<Gate>> last(const ApiKeyHash&) override { return std::optional<Gate>{}; }
  Result<Done> clear(const ApiKeyHash&) override { return Done{}; }
};

std::string read_text(const std::filesystem::path& path);

}  // namespace coderunner::executor_test
