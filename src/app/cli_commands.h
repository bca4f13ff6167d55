// The commands that end by themselves: what each prints and its exit status (contract section 1).
// Called by main. They speak HTTP only, except `check`,
// `doctor` and `migrate`.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "app/command_line.h"
#include "app/server_client.h"
#include "app/settings.h"
#include "seams/clock.h"

namespace coderunner::app {

inline constexpr int kSuccess = 0;
inline constexpr int kFailed = 1;
inline constexpr int kBadUsage = 2;

struct CommandContext {
  const Settings& settings;
  ServerHints hints;
  const Clock& clock;
  std::function<void(Millis)> pause;
  std::function<void(std::string_view)> out;  // standard output, at once
  std::function<void(std::string_view)> err;  // one message, without its newline
};

int run_submit(const SubmitCommand& command, const CommandContext& context);
int run_status(const StatusCommand& command, const CommandContext& context);
int run_list(const ListCommand& command, const CommandContext& context);
int run_show(const ShowCommand& command, const CommandContext& context);
int run_logs(const LogsCommand& command, const CommandContext& context);
int run_check(const CheckCommand& command, const CommandContext& context);
int run_simulate(const SimulateCommand& command, const CommandContext& context);
int run_doctor(const DoctorCommand& command, const CommandContext& context);
int run_migrate(const MigrateCommand& command, const CommandContext& context);
int run_cancel(const CancelCommand& command, const CommandContext& context);
int run_pause(const PauseCommand& command, const CommandContext& context);
int run_resume(const ResumeCommand& command, const CommandContext& context);
int run_account_show(const AccountShowCommand& command, const CommandContext& context);
int run_account_set(const AccountSetCommand& command, const CommandContext& context);
int run_gate_list(const GateListCommand& command, const CommandContext& context);
int run_gate_set(const GateSetCommand& command, const CommandContext& context);
int run_gate_clear(const GateClearCommand& command, const CommandContext& context);

}  // namespace coderunner::app
