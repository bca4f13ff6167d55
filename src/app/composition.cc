#include "app/composition.h"

#include <filesystem>

namespace coderunner::app {
namespace {

constexpr std::string_view kSqlite = "sqlite:";

}  // namespace

executor::PoolSettings pool_settings(const Settings& settings) {
  return {.max_children = settings.executor.max_children, .wall = settings.executor.wall};
}

GatePolicy gate_policy(const Settings& settings) {
  return {.margin = settings.gate.margin, .max = settings.gate.max, .minute = settings.gate.minute};
}

executor::RunSettings run_settings(const Settings& settings) {
  return {
      .wall = settings.executor.wall,
      .script = {.loop_budget = settings.executor.loop_budget, .memory = settings.executor.memory},
      .api = {.base_url = settings.api.base_url, .timeout = settings.api.timeout},
      .ladder = {.max_attempts = settings.api.max_attempts,
                 .method_limit_wait = settings.api.method_limit_wait,
                 .gate = gate_policy(settings)}};
}

executor::RunSettings test_run_settings(const Settings& settings) {
  executor::RunSettings run = run_settings(settings);
  run.wall = executor::test_wall(run.wall);
  return run;
}

std::string lock_path(const Settings& settings) {
  std::string_view path = settings.store.url;
  if (path.starts_with(kSqlite)) path.remove_prefix(kSqlite.size());
  // One store is one lock, however its path is spelled.
  std::error_code failed;
  const auto canonical = std::filesystem::weakly_canonical(std::filesystem::path{path}, failed);
  return (failed ? std::string{path} : canonical.string()) + ".lock";
}

}  // namespace coderunner::app
