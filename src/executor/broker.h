// Makes a script's API calls for it: the key's gate, the durable line before a call that may change
// something, the ladders (contract section 7, brief 10), and the gate written before a wait begins.
// Owned by a run. Never sleeps: every wait is the watch's.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "domain/retry_ladder.h"
#include "executor/api_client.h"
#include "executor/protocol.h"
#include "executor/run_log.h"
#include "executor/run_watch.h"
#include "seams/clock.h"
#include "seams/events.h"
#include "seams/gate_store.h"

namespace coderunner::executor {

struct BrokerParts {
  ApiClient& api;
  GateStore& gates;
  RunLog& log;
  RunWatch& watch;
  const Clock& clock;
  Events& events;
};

struct BrokerTask {
  std::optional<ExecutionId> execution;  // absent: a run in the test lane
  std::optional<ApiKeyHash> key;         // absent: no gate
  bool keep_answers = false;             // `debug`: API answers go into the log
  Millis api_timeout = limits::kApiTimeout;
  LadderPolicy ladder;
};

class Broker {
 public:
  Broker(const BrokerParts& parts, BrokerTask task) : parts_(parts), task_(std::move(task)) {}

  // One logical call, with all its attempts. An end of the run beats any answer.
  std::variant<CallAnswer, RunEnd> call(const ScriptCall& call);

  // Every call that may have changed something, with what came of it, in order: "POST /cards: 200".
  const std::vector<std::string>& sent() const { return sent_; }

 private:
  // Of one step of a call: go on, or this is the call's answer.
  using Stop = std::optional<std::variant<CallAnswer, RunEnd>>;

  Stop await_gate();
  Stop announce(const ScriptCall& call, int attempt);
  ApiAnswer attempt_once(const ScriptCall& call, int attempt);
  Stop judge(const ScriptCall& call, int attempt, const ApiAnswer& answer);
  void close_gate(Millis retry_after);
  void close_spent_minute(int status);
  void close_gate(const Gate& gate);
  Stop wait_before_resend(const ScriptCall& call, int attempt, Millis wait);
  Millis to_wall() const;

  BrokerParts parts_;
  BrokerTask task_;
  std::vector<std::string> sent_;
};

}  // namespace coderunner::executor
