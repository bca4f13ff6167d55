#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "adapters/sql/sql_store.h"
#include "adapters/system/system_entropy.h"
#include "app/cli_commands.h"

namespace coderunner::app {
namespace {

std::string report_json(const sql::MigrationReport& report) {
  const nlohmann::ordered_json json{{"from", report.from},
                                    {"to", report.to},
                                    {"steps", report.steps},
                                    {"dry_run", report.dry_run}};
  return json.dump() + "\n";
}

std::string report_text(const sql::MigrationReport& report) {
  if (report.steps.empty())
    return fmt::format("the store is at schema {}: nothing to do\n", report.to);
  std::string text;
  for (const std::string& step : report.steps)
    text += fmt::format("{} {}\n", report.dry_run ? "due:" : "applied:", step);
  text += fmt::format("{} from schema {} to {}\n", report.dry_run ? "would go" : "went",
                      report.from, report.to);
  return text;
}

}  // namespace

int run_migrate(const MigrateCommand& command, const CommandContext& context) {
  SystemEntropy entropy;
  const auto report = sql::migrate({.url = context.settings.store.url,
                                    .dry_run = command.dry_run,
                                    .pause = context.pause,
                                    .wait = {}},
                                   context.clock, entropy);
  if (!report) {
    context.err(report.error().message);
    const Failure kind = report.error().kind;
    return kind == Failure::invalid_input || kind == Failure::corrupt ? kBadUsage : kFailed;
  }
  context.out(command.json ? report_json(*report) : report_text(*report));
  return kSuccess;
}

}  // namespace coderunner::app
