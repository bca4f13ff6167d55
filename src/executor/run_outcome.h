// How a run ended, as the row says it (contract section 4): from what the script said, or from what
// ended it from outside. Pure.
#pragma once

#include <string>
#include <vector>

#include "domain/execution.h"
#include "executor/protocol.h"
#include "executor/run_watch.h"

namespace coderunner::executor {

// The script's own word: success, 201, 301 or 302.
Outcome outcome_of(const ScriptEnd& end);

// 302: the script process died of itself. `wait_status` as of waitpid().
Outcome outcome_of_death(int wait_status);

Outcome protocol_violation(const std::string& what);  // 302

// 303. `wall` for the message; `sent` lists the calls that may have changed something.
struct OutsideEnd {
  RunEnd end = RunEnd::wall;  // not script_ended
  Millis wall{0};
  std::vector<std::string> sent;
};
Outcome outcome_of(const OutsideEnd& end);

}  // namespace coderunner::executor
