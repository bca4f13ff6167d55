// The program `coderunner`: one of the executor's processes, or a command. Decides which, and turns
// what came of it into an exit status.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "adapters/system/pause.h"
#include "adapters/system/system_clock.h"
#include "app/cli_commands.h"
#include "app/command_line.h"
#include "app/config.h"
#include "app/doctor.h"
#include "app/executor_entry.h"
#include "app/serve.h"

namespace coderunner::app {
namespace {

void complain(std::string_view message) {
  for (std::size_t at = 0; at <= message.size();) {
    const std::size_t end = std::min(message.find('\n', at), message.size());
    fmt::print(stderr, "coderunner: {}\n", message.substr(at, end - at));
    at = end + 1;
  }
}

int run(const CommandLine& line, const Settings& settings, const ServerHints& hints) {
  if (const auto* serve = std::get_if<ServeCommand>(&line.command))
    return run_serve({settings, serve->roles, serve->wait_lock});
  const SystemClock clock;
  const CommandContext context{settings,
                               hints,
                               clock,
                               pause,
                               [](std::string_view text) {
                                 std::fwrite(text.data(), 1, text.size(), stdout);
                                 std::fflush(stdout);
                               },
                               complain};
  struct {
    const CommandContext& context;
    int operator()(const ServeCommand&) const { return kFailed; }  // has run above
    int operator()(const MigrateCommand& command) const { return run_migrate(command, context); }
    int operator()(const SubmitCommand& command) const { return run_submit(command, context); }
    int operator()(const StatusCommand& command) const { return run_status(command, context); }
    int operator()(const ListCommand& command) const { return run_list(command, context); }
    int operator()(const ShowCommand& command) const { return run_show(command, context); }
    int operator()(const LogsCommand& command) const { return run_logs(command, context); }
    int operator()(const CheckCommand& command) const { return run_check(command, context); }
    int operator()(const SimulateCommand& command) const { return run_simulate(command, context); }
    int operator()(const DoctorCommand& command) const { return run_doctor(command, context); }
    int operator()(const CancelCommand& command) const { return run_cancel(command, context); }
    int operator()(const PauseCommand& command) const { return run_pause(command, context); }
    int operator()(const ResumeCommand& command) const { return run_resume(command, context); }
    int operator()(const AccountShowCommand& command) const {
      return run_account_show(command, context);
    }
    int operator()(const AccountSetCommand& command) const {
      return run_account_set(command, context);
    }
    int operator()(const GateListCommand& command) const { return run_gate_list(command, context); }
    int operator()(const GateSetCommand& command) const { return run_gate_set(command, context); }
    int operator()(const GateClearCommand& command) const {
      return run_gate_clear(command, context);
    }
  } const runner{context};
  const int status = std::visit(runner, line.command);
  if (std::ferror(stdout) == 0) return status;
  complain("cannot write to standard output");
  return kFailed;
}

std::string value_or_empty(const std::map<std::string, std::string>& environment,
                           const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string{} : found->second;
}

// Bad configuration keeps its exit status, also where it was asked about.
int tell_broken_settings(const DoctorCommand& doctor, const Error& error) {
  const std::vector<Finding> findings{
      {"configuration", Grade::fail, error.message, "correct it; nothing else was looked at"}};
  fmt::print(stdout, "{}",
             doctor.json ? doctor_json(findings, nullptr) : doctor_text(findings, nullptr));
  return kBadUsage;
}

int run_command(const std::vector<std::string>& words) {
  const auto parsed = parse_command_line(words);
  if (const auto* nothing = std::get_if<NothingToRun>(&parsed)) {
    fmt::print(stdout, "{}", nothing->output);
    fmt::print(stderr, "{}", nothing->errors);
    return nothing->exit_status;
  }
  const CommandLine& line = std::get<CommandLine>(parsed);
  // These look at one file only: a configuration that is broken is not their business.
  if (std::holds_alternative<CheckCommand>(line.command) ||
      std::holds_alternative<SimulateCommand>(line.command))
    return run(line, Settings{}, {});
  const auto environment = coderunner_environment();
  const auto settings = load_settings(
      {.file = line.config.file, .environment = environment, .overrides = line.config.settings});
  if (!settings) {
    if (const auto* doctor = std::get_if<DoctorCommand>(&line.command))
      return tell_broken_settings(*doctor, settings.error());
    complain(settings.error().message);
    return kBadUsage;
  }
  return run(line, *settings,
             {.url = value_or_empty(environment, "CODERUNNER_URL"),
              .token = value_or_empty(environment, "CODERUNNER_TOKEN")});
}

}  // namespace
}  // namespace coderunner::app

int main(int argc, char** argv) {
  using namespace coderunner;
  // The store holds customers' scripts: whatever makes it, it is nobody else's to read.
  ::umask(S_IRWXG | S_IRWXO);
  // Before anything else is built: such a process starts often, and must not hold more than it was
  // given.
  if (argc > 1)
    if (const auto role = executor::role_from_argument(argv[1]))
      return app::run_executor_role(*role);
  return app::run_command({argv + std::min(argc, 1), argv + argc});
}
