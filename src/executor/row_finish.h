// Writes a run's last log lines and its outcome, for as long as it takes (contract section 3: while
// the store is away the outcome is kept and retried). Used by the worker for its own runs and for
// those of dead ones. Waits on the master's channel, never sleeps.
#pragma once

#include "domain/execution.h"
#include "executor/master_link.h"
#include "executor/run_log.h"
#include "executor/scoreboard.h"
#include "seams/clock.h"
#include "seams/events.h"
#include "seams/store.h"

namespace coderunner::executor {

struct FinishParts {
  Ledger& ledger;
  MasterLink& master;
  const Clock& clock;
  Events& events;
  WorkerSlot slot;  // enters Stage::finishing with each try
};

enum class RowOf { this_worker, dead_worker };

struct RowToFinish {
  ExecutionId execution;
  RunId run;
  Outcome outcome;        // of a dead worker's: its message gets what the run had sent
  RunLog* log = nullptr;  // its pending lines go first, so that who sees the end sees the log
  RowOf whose = RowOf::this_worker;
};

// True where the row has an end now, this one or an earlier. False only where the executor was told
// to stop and the store stayed away for limits::kStopFinish: whoever proves this process dead ends
// the row.
bool finish_row(const RowToFinish& row, const FinishParts& parts);

}  // namespace coderunner::executor
