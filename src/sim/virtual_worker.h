// One executor process of a simulated run. It follows the executor contract step by step (begin, a
// "sending" line before each change, the gate, the ladder, the wall, finish until it is kept), each
// step an event of its own, so that it can die or freeze between any two. The script is a list of
// calls; what reaches the API is the judge's to know.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "domain/retry_ladder.h"
#include "sim/faulty_seams.h"

namespace coderunner::sim {

enum class Reply { refused, reset, ok, forbidden, unavailable };

struct Request {
  JobId job;
  NonceHash nonce;
  std::function<void(Reply)> reply;
};

class VirtualWorker {
 public:
  struct Told {  // to the pool
    std::function<void(VirtualWorker&)> idle;
    std::function<void(VirtualWorker&)> died;
    std::function<void(VirtualWorker&, const RunId&)> began;
  };
  VirtualWorker(Shared& shared, int number, Told told);

  void take(Request request);
  // As the master's next worker: ends the row of one that died.
  void bury(ExecutionId execution, const RunId& run);

  bool is_idle() const { return is_idle_; }
  // Left in its script: a master kills such a one past its wall.
  bool is_stuck_in(const RunId& run) const;
  const ProcessRef& process() const { return process_; }
  const ExecutorId& id() const { return id_; }

  // What the scoreboard says of it.
  std::optional<ExecutionId> noted_execution() const { return noted_; }
  const RunId& run() const { return run_; }

 private:
  void begin();
  void start_script(Begun begun);
  void next();
  void think(Millis duration, void (VirtualWorker::*then)());
  bool is_at_wall();
  Millis to_wall() const;
  void pass_gate();
  LogLine line_of(const ApiCall& call, std::string message) const;
  void announce();
  void send();
  void hear();
  void end_script();
  void end(Outcome outcome);
  void finish();
  bool flush_log();
  void reply(Reply reply);
  void rest();

  Shared& shared_;
  ProcessRef process_;
  ExecutorId id_;
  FaultySeams seams_;
  Told told_;
  bool is_idle_ = true;
  bool is_finishing_ = false;
  int runs_ = 0;
  Request request_;
  RunId run_;
  std::optional<ExecutionId> noted_;
  Begun begun_;
  MonoTime wall_;
  Script script_;
  std::size_t call_ = 0;
  int attempt_ = 1;
  std::vector<std::string> sent_;  // what its calls may have changed
  std::vector<LogLine> pending_;   // results, written with what comes next
  Outcome outcome_;
  bool is_burying_ = false;
  Reply last_reply_ = Reply::ok;
  Millis retry_{0};
};

}  // namespace coderunner::sim
