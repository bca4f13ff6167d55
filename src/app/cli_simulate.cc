#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "adapters/log/escape.h"
#include "adapters/system/file.h"
#include "app/cli_commands.h"
#include "app/text_table.h"
#include "sim/replay.h"

namespace coderunner::app {
namespace {

using Json = nlohmann::ordered_json;

double seconds(Millis time) { return static_cast<double>(time.count()) / 1000.0; }

double mean_workers_held(const sim::ReplayFigures& figures) {
  if (figures.drained_at <= Millis{0}) return 0;
  return seconds(figures.worker_time) / seconds(figures.drained_at);
}

// Contract section 8.
Json figures_json(const sim::ReplayFigures& figures, int max_in_flight_per_account) {
  return {{"arrivals", figures.arrivals},
          {"succeeded", figures.succeeded},
          {"killed_at_wall", figures.killed_at_wall},
          {"failed", figures.failed},
          {"rejected", figures.rejected},
          {"max_in_flight", figures.max_in_flight},
          {"max_in_flight_per_account", max_in_flight_per_account},
          {"mean_workers_held", mean_workers_held(figures)},
          {"worker_seconds", seconds(figures.worker_time)},
          {"killed_worker_seconds", seconds(figures.killed_worker_time)},
          {"last_kill_at_ms", figures.last_kill_at.count()},
          {"drained_at_ms", figures.drained_at.count()},
          {"wait_ms",
           {{"p50", sim::percentile(figures.waits, 50).count()},
            {"p95", sim::percentile(figures.waits, 95).count()},
            {"max", sim::percentile(figures.waits, 100).count()}}}};
}

std::string report_json(const sim::ReplayReport& report) {
  Json json = figures_json(report.all, report.max_in_flight_per_account);
  json["max_queued"] = report.all.max_queued;
  json["max_queued_age_ms"] = report.all.max_queued_age.count();
  json["accounts"] = Json::object();
  for (const auto& [account, figures] : report.accounts)
    json["accounts"][account] = figures_json(figures, figures.max_in_flight);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<std::string> row_of(const std::string& name, const sim::ReplayFigures& figures) {
  const auto wait = [&](int percent) {
    return human_duration(sim::percentile(figures.waits, percent));
  };
  return {escape_controls(name),
          fmt::to_string(figures.arrivals),
          fmt::to_string(figures.succeeded),
          fmt::to_string(figures.killed_at_wall),
          fmt::to_string(figures.failed),
          fmt::to_string(figures.rejected),
          fmt::to_string(figures.max_in_flight),
          fmt::format("{:.1f}", mean_workers_held(figures)),
          wait(50),
          wait(95),
          wait(100)};
}

std::string report_text(const sim::ReplayReport& report) {
  TextTable table{{"ACCOUNT", "ARRIVALS", "SUCCEEDED", "KILLED", "FAILED", "REJECTED", "IN FLIGHT",
                   "WORKERS", "WAIT P50", "P95", "MAX"}};
  for (const auto& [account, figures] : report.accounts) table.add(row_of(account, figures));
  table.add(row_of("all", report.all));
  return table.text() + fmt::format("\nmost queued {}, oldest queued age {}, drained after {}\n",
                                    report.all.max_queued,
                                    human_duration(report.all.max_queued_age),
                                    human_duration(report.all.drained_at));
}

}  // namespace

int run_simulate(const SimulateCommand& command, const CommandContext& context) {
  const auto text = read_file(command.trace, limits::kMaxTraceBytes);
  if (!text) {
    context.err(text.error().message);
    return kFailed;
  }
  const auto trace = sim::read_trace(*text);
  if (!trace) {
    context.err(fmt::format("{}: {}", command.trace, trace.error().message));
    return kFailed;
  }
  const sim::ReplayReport report = sim::replay(*trace, command.options);
  context.out(command.json ? report_json(report) : report_text(report));
  return kSuccess;
}

}  // namespace coderunner::app
