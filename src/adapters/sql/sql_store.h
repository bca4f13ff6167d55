// The store on SQL: opened by app/ in every process that needs one, handed to the stages face by
// face. Thread-safe. A store that goes away at run time answers `unavailable` and is found again
// when it comes back; no process ends for it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "adapters/sql/busy_wait.h"
#include "adapters/sql/connections.h"
#include "adapters/sql/faces.h"
#include "adapters/sql/migrations.h"
#include "seams/clock.h"
#include "seams/entropy.h"
#include "seams/events.h"

namespace coderunner::sql {

struct StoreOptions {
  std::string url;      // "sqlite:PATH"
  bool create = false;  // make and migrate it; otherwise it must stand at this program's schema
  BusyWait::Pause pause;
  WaitPolicy wait;
  GatePolicy gate;                     // its max
  Writer writer = Writer::own_thread;  // caller: no thread at all, for a single-threaded process
  int readers = limits::kStoreReaders;
};

class SqlStore {
 public:
  struct Parts {
    CommitQueue::Parts writer;
    ReaderPool::Make make_reader;
    BusyWait reader_wait;
    int readers = limits::kStoreReaders;
    std::shared_ptr<Connections> connections = nullptr;  // of the sessions above
    GatePolicy gate = {};
  };
  SqlStore(Parts parts, Events& events);
  ~SqlStore();
  SqlStore(const SqlStore&) = delete;
  SqlStore& operator=(const SqlStore&) = delete;

  AdmissionStore& admission() { return admission_; }
  DispatchStore& dispatch() { return dispatch_; }
  Ledger& ledger() { return ledger_; }
  ReaperStore& reaper() { return reaper_; }
  QueueView& view() { return view_; }
  GateStore& gates() { return gates_; }
  ControlStore& control() { return control_; }
  // CommitQueue::trouble: for /readyz.
  std::optional<Error> write_trouble() const { return writer_.trouble(); }

 private:
  std::shared_ptr<Connections> connections_;
  CommitQueue writer_;
  ReaderPool readers_;
  AdmissionFace admission_;
  DispatchFace dispatch_;
  LedgerFace ledger_;
  ReaperFace reaper_;
  ViewFace view_;
  GateFace gates_;
  ControlFace control_;
};

// invalid_input: a wrong url, or a schema this program must not touch (the message says the
// versions and what to do). corrupt: not a database; the message names the file, which is left as
// it is. unavailable: locked, missing or unreadable now; try again later.
Result<std::unique_ptr<SqlStore>> open_store(const StoreOptions& options, const Clock& clock,
                                             Entropy& entropy, Events& events);

struct MigrateOptions {
  std::string url;
  bool dry_run = false;  // says what is due and writes nothing, not even a missing file
  BusyWait::Pause pause;
  WaitPolicy wait;
};
// The same failures as open_store.
Result<MigrationReport> migrate(const MigrateOptions& options, const Clock& clock,
                                Entropy& entropy);

}  // namespace coderunner::sql
