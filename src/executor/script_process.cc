#include "executor/script_process.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "executor/frame.h"
#include "executor/lua_host.h"
#include "executor/protocol.h"

namespace coderunner::executor {
namespace {

// Nobody is left to run for; the worker has finished the row or another one will.
[[noreturn]] void leave() { ::_exit(0); }

void say(const FromScript& said) {
  std::string json = to_json(said);
  if (json.size() > limits::kMaxFrameBytes || !write_frame(kJailSocket, json)) leave();
}

class BrokerPort final : public ScriptPort {
 public:
  void log(std::string message) override { say(ScriptLog{std::move(message)}); }

  CallAnswer call(const ScriptCall& call) override {
    const std::string json = to_json(FromScript{call});
    if (json.size() > limits::kMaxFrameBytes)
      return CallError{std::nullopt, std::nullopt, "the body is too large; not sent"};
    if (!write_frame(kJailSocket, json)) leave();
    const auto frame = read_frame(kJailSocket);
    if (!frame) leave();
    auto answer = parse_call_answer(*frame);
    if (!answer) leave();
    return std::move(*answer);
  }
};

}  // namespace

void run_script_process(const Jail& jail, const Clock& clock) {
  ::prctl(PR_SET_NAME, "cr-script");
  const auto confined = enter_jail(jail);
  if (!confined) {
    write_frame(kJailSocket, confined.error().message);
    leave();
  }
  if (!write_frame(kJailSocket, kScriptReady)) leave();
  const auto frame = read_frame(kJailSocket);
  if (!frame) leave();  // begin was refused: nothing to run
  const auto start = parse_script_start(*frame);
  if (!start) leave();
  BrokerPort port;
  say(run_script(*start, {jail.limits, port, clock}));
  ::_exit(0);
}

}  // namespace coderunner::executor
