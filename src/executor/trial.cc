#include "executor/trial.h"

#include <sys/wait.h>

#include <array>
#include <csignal>
#include <string>
#include <utility>

#include "domain/limits.h"
#include "executor/channel.h"
#include "executor/master_link.h"
#include "executor/poll_until.h"
#include "executor/protocol.h"
#include "executor/script_link.h"
#include "executor/spawn.h"

namespace coderunner::executor {
namespace {

constexpr const char* kScript = "local n = 0 for i = 1, 10 do n = n + i end log(n)";
constexpr const char* kSays = "55";

class TrialZygote {
 public:
  static Result<TrialZygote> start() {
    auto channel = make_channel();
    if (!channel) return channel.error();
    const std::array<int, 1> passed{channel->second.get()};
    const auto pid = spawn_role(Role::zygote, passed);
    if (!pid) return pid.error();
    return TrialZygote{*pid, std::move(channel->first)};
  }
  TrialZygote(TrialZygote&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)), master_(std::move(other.master_)) {}
  TrialZygote& operator=(TrialZygote&&) = delete;
  ~TrialZygote() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  // The zygote takes this process for its master, and for the worker beyond it.
  MasterLink& link() { return master_; }

 private:
  TrialZygote(int pid, Descriptor channel) : pid_(pid), master_(std::move(channel)) {}
  int pid_;
  MasterLink master_;
};

Result<SandboxReport> hear_report(MasterLink& zygote, MonoTime until, const Clock& clock) {
  for (;;) {
    zygote.read();
    if (const auto message = zygote.take()) {
      if (message->verb != kSandbox) return fail(Failure::unavailable, message->text);
      const auto report = parse_sandbox_report(message->text);
      if (!report) return fail(Failure::internal, "the self-test's report cannot be read");
      return *report;
    }
    if (zygote.is_gone()) return fail(Failure::unavailable, "the zygote has died");
    pollfd readable{zygote.descriptor(), POLLIN, 0};
    if (!poll_until({&readable, 1}, until, clock))
      return fail(Failure::unavailable, "the self-test took too long");
  }
}

Result<Done> judge(const ScriptEnd& end, const std::string& logged) {
  if (end.verdict != ScriptVerdict::success)
    return fail(Failure::unavailable, "a trivial script failed: " + end.message);
  if (logged != kSays)
    return fail(Failure::internal, "a trivial script said '" + logged + "' and not " + kSays);
  return Done{};
}

Result<Done> run_trivial_script(MasterLink& zygote, const ScriptLimits& limits,
                                const Clock& clock) {
  auto script = ScriptLink::request(zygote, limits, clock);
  if (!script) return script.error();
  RunSockets watch{{zygote, *script, clock, clock.mono_now() + limits::kScriptStart}};
  ScriptStart start;
  start.source = kScript;
  if (script->send(to_json(start), watch, clock))
    return fail(Failure::unavailable, "the script's process ended before its script");
  FrameReader reader;
  std::string logged;
  for (;;) {
    const auto pulled = reader.pull(script->socket());
    for (auto frame = reader.next(); frame && *frame; frame = reader.next()) {
      const auto said = parse_from_script(**frame);
      if (!said) return said.error();
      if (const auto* end = std::get_if<ScriptEnd>(&*said)) return judge(*end, logged);
      if (const auto* log = std::get_if<ScriptLog>(&*said)) logged = log->message;
    }
    if (pulled == FrameReader::Pulled::some) continue;
    if (pulled == FrameReader::Pulled::end ||
        watch.wait_for(script->socket(), POLLIN, watch.wall()))
      return fail(Failure::unavailable, "the script's process ended without a word");
  }
}

}  // namespace

Result<Trial> try_out(const ScriptLimits& limits, const Clock& clock) {
  auto zygote = TrialZygote::start();
  if (!zygote) return zygote.error();
  auto report = hear_report(zygote->link(), clock.mono_now() + limits::kScriptStart * 2, clock);
  if (!report) return report.error();
  return Trial{std::move(*report), run_trivial_script(zygote->link(), limits, clock)};
}

}  // namespace coderunner::executor
