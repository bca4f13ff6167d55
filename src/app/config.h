// From defaults, a file, the environment and --set to checked Settings, and back to text. Called by
// main before anything else is built. Every mistake is named with its place and what would be
// right.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/settings.h"
#include "base/result.h"

namespace coderunner::app {

inline constexpr std::string_view kDefaultConfigFile = "coderunner.toml";

struct ConfigSources {              // later ones win
  std::optional<std::string> file;  // absent: kDefaultConfigFile where it exists, else none
  std::map<std::string, std::string> environment;              // CODERUNNER_<SECTION>_<KEY>
  std::vector<std::pair<std::string, std::string>> overrides;  // key, value
};

// invalid_input with one line for each mistake.
Result<Settings> load_settings(const ConfigSources& sources);

// The same checks on a text alone, without file or environment: how an executor's process takes
// over what `serve` was given. `name` stands in messages.
Result<Settings> parse_settings(std::string_view toml, std::string_view name);

// Every setting, defaults included; parse_settings gives the same Settings back.
std::string to_toml(const Settings& settings);

// The variables whose name begins with CODERUNNER_.
std::map<std::string, std::string> coderunner_environment();

// "CODERUNNER_QUEUE_CONCURRENCY"
std::string environment_name(std::string_view key);

}  // namespace coderunner::app
