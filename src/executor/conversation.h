// The loop between one script and its broker: log lines, calls, the end. Owned by a run, once it
// has begun.
#pragma once

#include <optional>
#include <string>

#include "domain/execution.h"
#include "executor/broker.h"
#include "executor/run_log.h"
#include "executor/script_link.h"

namespace coderunner::executor {

class Conversation {
 public:
  struct Parts {
    ScriptLink& script;
    RunSockets& watch;
    Broker& broker;
    RunLog& log;
    const Clock& clock;
    Millis wall{0};  // its length, for the message
  };
  explicit Conversation(const Parts& parts) : parts_(parts) {}
  // Sends `start` and stays until there is an outcome; a script that still lives is killed then.
  Outcome hold(const ScriptStart& start);

 private:
  std::optional<Outcome> take_frames();
  std::optional<Outcome> take(const FromScript& said);
  std::optional<Outcome> call(const ScriptCall& call);
  Outcome end_from_outside(RunEnd end);
  Outcome last_words();
  Outcome silent_end();

  Parts parts_;
  FrameReader reader_;
};

}  // namespace coderunner::executor
