// A script on a stage: runs it in this process, with a port that answers what the test has prepared
// and a clock that moves a little with every look, so that a loop does use up its budget.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "executor/lua_host.h"
#include "seams/clock.h"

namespace coderunner::executor {

class CreepingClock final : public Clock {
 public:
  UtcTime utc_now() const override {
    return UtcTime{std::chrono::floor<Millis>(now_.time_since_epoch())};
  }
  MonoTime mono_now() const override { return now_ += std::chrono::microseconds{100}; }
  void advance(Millis by) { now_ += by; }

 private:
  mutable MonoTime now_{};
};

class Stage : public ScriptPort {
 public:
  ScriptEnd run(const std::string& source) {
    start.source = source;
    start.execution = ExecutionId{41};
    return run_script(start, {limits, *this, clock});
  }
  // The script's only log line, or all of them joined by '|'.
  std::string logged(const std::string& source) {
    const ScriptEnd end = run(source);
    if (end.verdict != ScriptVerdict::success) return "ended: " + end.message;
    std::string all;
    for (const std::string& line : lines) all += (all.empty() ? "" : "|") + line;
    return all;
  }

  void log(std::string message) override { lines.push_back(std::move(message)); }
  CallAnswer call(const ScriptCall& made) override {
    calls.push_back(made);
    return answer(made);
  }

  ScriptStart start;
  ScriptLimits limits{Millis{50}, 8UL * 1024 * 1024};
  CreepingClock clock;
  std::function<CallAnswer(const ScriptCall&)> answer = [](const ScriptCall&) {
    return CallResult{200, R"({"data":[]})"};
  };
  std::vector<std::string> lines;
  std::vector<ScriptCall> calls;
};

}  // namespace coderunner::executor
