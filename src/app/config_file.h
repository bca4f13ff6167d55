// A TOML text taken apart into keys, values and the places they stand at. Called by config.cc; the
// only room of toml++. Knows no setting by name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/setting_table.h"
#include "base/result.h"

namespace coderunner::app {

struct FileSetting {
  std::string key;                    // "queue.concurrency"; without a dot where it has no section
  std::optional<SettingValue> value;  // absent: of a type no setting has
  std::string type;                   // what TOML calls it
  unsigned line = 0;
  unsigned column = 0;
  friend bool operator==(const FileSetting&, const FileSetting&) = default;
};

// In the order they stand in. invalid_input, "NAME:LINE:COLUMN: reason", where it is not TOML.
Result<std::vector<FileSetting>> read_toml(std::string_view text, std::string_view name);

}  // namespace coderunner::app
