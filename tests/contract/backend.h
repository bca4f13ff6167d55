// A store under the contract suite: its faces, and what another program could do to its rows. Every
// test of `StoreContract` runs on each backend; what one of them can not do has a suite of its own.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "sim/memory_store.h"
#include "tests/contract/doubles.h"

namespace coderunner::contract {

class Backend {
 public:
  virtual ~Backend() = default;
  virtual AdmissionStore& admission() = 0;
  virtual DispatchStore& dispatch() = 0;
  virtual Ledger& ledger() = 0;
  virtual ReaperStore& reaper() = 0;
  virtual QueueView& view() = 0;
  virtual GateStore& gates() = 0;
  virtual ControlStore& control() = 0;

  virtual Admitted plant(const MemoryStore::Planted& row) = 0;
  virtual void pause_account(const AccountId& account) = 0;  // the empty one: everybody
  virtual std::optional<std::string> sealed_key(JobId job) = 0;
  virtual std::optional<UtcTime> last_sweep() = 0;
  // "12:00:00.000 loopback pause acme", with the details where there are some; oldest first
  virtual std::vector<std::string> audit() = 0;
};

std::unique_ptr<Backend> make_memory_backend();
std::unique_ptr<Backend> make_sqlite_backend();
std::unique_ptr<Backend> make_lying_backend();   // every other COMMIT is done and denied
std::unique_ptr<Backend> make_losing_backend();  // every other COMMIT is lost

struct BackendChoice {
  const char* name;
  std::unique_ptr<Backend> (*make)();
};
inline void PrintTo(const BackendChoice& choice, std::ostream* out) { *out << choice.name; }

class StoreContract : public testing::TestWithParam<BackendChoice> {
 protected:
  StoreContract() : store(GetParam().make()) {}

  // "acme" with key "k1": both stand for their hashes
  Admitted admit(const std::string& account, const std::string& key, Millis after_noon = Millis{0});
  NewExecution fresh(const std::string& account, const std::string& key, Millis after_noon);
  MintAnswer mint(const Admitted& of, const std::string& nonce, UtcTime now = kNoon);
  std::variant<Begun, BeginRefused> begin(JobId job, const std::string& nonce,
                                          const std::string& run, UtcTime now = kNoon);
  // Minted and begun with the run id.
  Admitted run(const std::string& account, const std::string& run_id, UtcTime now = kNoon);
  Execution row(ExecutionId id);

  std::unique_ptr<Backend> store;
  int refs = 0;
};

inline bool refused(const std::variant<Begun, BeginRefused>& answer) {
  return std::holds_alternative<BeginRefused>(answer);
}

}  // namespace coderunner::contract
