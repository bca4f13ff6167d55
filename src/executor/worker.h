// A worker: one connection and one run at a time: begin, a script process, the broker's loop,
// finish (contract section 3). main() calls it in the role executor-worker, after it has opened the
// store and the secrets; it must not exit because the store is away. Single-threaded.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "executor/settings.h"
#include "seams/clock.h"
#include "seams/entropy.h"
#include "seams/events.h"
#include "seams/gate_store.h"
#include "seams/secrets.h"
#include "seams/store.h"

namespace coderunner::executor {

struct RunRequest {  // the decoded form fields of POST /codeRunner/runAsync
  std::optional<std::string> job_id;
  std::optional<std::string> nonce;
};

struct RunAnswer {
  int http_status = 200;
  std::string body;  // JSON
};

using RunHandler = std::function<RunAnswer(const RunRequest&)>;

struct WorkerParts {
  Ledger& ledger;
  GateStore& gates;
  const Secrets& secrets;
  const Clock& clock;
  Entropy& entropy;
  Events& events;
  ExecutorId self;  // of this very process
  // Reads one request from the connected socket (taken over and closed), calls the handler at most
  // once, on the calling thread and for as long as the run takes, and sends its answer.
  std::function<void(int socket, const RunHandler& handler)> serve_one;
};

// Runs on the descriptors of roles.h until the master says so or has died. The process's exit
// status.
int run_worker(const RunSettings& settings, const WorkerParts& parts);

}  // namespace coderunner::executor
