#include "executor/run_outcome.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>

#include "base/ensure.h"
#include "domain/sent_changes.h"
#include "executor/run_log.h"

namespace coderunner::executor {
namespace {

Outcome ended(ErrorCode code, std::string_view message) {
  return {code, storable_text(message, limits::kMaxErrorMessageBytes)};
}

std::string signal_meaning(int signal) {
  if (signal == SIGXCPU) return "used more CPU time than its loop budget allows";
  if (signal == SIGSYS) return "made a forbidden system call";
  return fmt::format("was killed by signal {}", signal);
}

}  // namespace

Outcome outcome_of(const ScriptEnd& end) {
  switch (end.verdict) {
    case ScriptVerdict::success: return {};
    case ScriptVerdict::syntax_error: return ended(ErrorCode::does_not_parse, end.message);
    case ScriptVerdict::error:
    case ScriptVerdict::loop_budget: return ended(ErrorCode::script_error, end.message);
    case ScriptVerdict::memory: return ended(ErrorCode::fatal, end.message);
  }
  return ended(ErrorCode::fatal, end.message);
}

Outcome outcome_of_death(int wait_status) {
  if (WIFSIGNALED(wait_status))
    return ended(ErrorCode::fatal, "the script's process " + signal_meaning(WTERMSIG(wait_status)));
  return ended(ErrorCode::fatal,
               fmt::format("the script's process exited with status {} before the script ended",
                           WEXITSTATUS(wait_status)));
}

Outcome protocol_violation(const std::string& what) {
  return ended(ErrorCode::fatal, "the script's process broke the protocol: " + what);
}

Outcome outcome_of(const OutsideEnd& outside) {
  std::string message;
  switch (outside.end) {
    case RunEnd::wall:
      message = fmt::format("wall: still running after {}", format_duration(outside.wall));
      break;
    case RunEnd::stop: message = "stopped: the executor was stopped"; break;
    case RunEnd::script_lost: message = "lost: the script's process died with its parent"; break;
    case RunEnd::fenced: message = "fenced: the row had been ended by somebody else"; break;
    case RunEnd::client_gone: message = "client gone: nobody waits for this run any more"; break;
    case RunEnd::script_ended: ensure(false, "a script's own end is not one from outside");
  }
  return ended(ErrorCode::ended_from_outside, ended_from_outside(message, outside.sent));
}

}  // namespace coderunner::executor
