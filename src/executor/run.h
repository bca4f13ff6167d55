// One run, from the drainer's request to the answer: script process, begin, the loop between script
// and broker, finish. Made by the worker for each request.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "executor/broker.h"
#include "executor/master_link.h"
#include "executor/scoreboard.h"
#include "executor/script_link.h"
#include "executor/worker.h"

namespace coderunner::executor {

struct RunParts {
  const RunSettings& settings;
  const WorkerParts& worker;
  MasterLink& master;
  WorkerSlot slot;
};

class Run {
 public:
  explicit Run(const RunParts& parts) : parts_(parts) {}
  RunAnswer answer(const RunRequest& request);

 private:
  RunAnswer begin_and_drive(JobId job, const Nonce& nonce, ScriptLink script);
  RunAnswer begin_of_unknown_outcome(const RunId& run, const std::string& error);
  Outcome drive(const Begun& begun, ScriptLink script, RunLog& log, MonoTime wall);
  RunAnswer finish(const Begun& begun, const RunId& run, const Outcome& outcome, RunLog& log);
  void enter(Stage stage);

  RunParts parts_;
};

// {"error":{"code":N,"message":"..."}}
RunAnswer refusal(int http_status, int code, const std::string& message);

}  // namespace coderunner::executor
