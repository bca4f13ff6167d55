#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "adapters/log/escape.h"
#include "adapters/system/file.h"
#include "adapters/system/system_clock.h"
#include "app/cli_commands.h"
#include "app/doctor.h"
#include "executor/lua_check.h"

namespace coderunner::app {

int run_check(const CheckCommand& command, const CommandContext& context) {
  const auto source = read_file(command.script, limits::kMaxScriptFileBytes);
  if (!source) {
    context.err(source.error().message);
    return kFailed;
  }
  const SystemClock clock;
  const auto problem = executor::LuaCheck{clock}.check(*source);
  if (command.json) {
    nlohmann::ordered_json json{{"ok", !problem}, {"diagnostics", nlohmann::json::array()}};
    if (problem)
      json["diagnostics"].push_back({{"line", problem->line}, {"message", problem->message}});
    context.out(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else if (problem) {
    context.out(fmt::format("{}:{}: {}\n", command.script, problem->line,
                            escape_controls(problem->message)));
  }
  return problem ? kFailed : kSuccess;
}

int run_doctor(const DoctorCommand& command, const CommandContext& context) {
  const auto findings = examine(context.settings, context.clock);
  context.out(command.json ? doctor_json(findings, &context.settings)
                           : doctor_text(findings, &context.settings));
  return is_healthy(findings) ? kSuccess : kFailed;
}

}  // namespace coderunner::app
