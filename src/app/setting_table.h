// The one list of settings: key, place in Settings, type and range. Drives the file, the
// environment, --set and the printed form, so that none of them can forget a key. Called by
// config.cc; knows no file and no rule that looks at two keys.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/settings.h"
#include "base/result.h"

namespace coderunner::app {

struct IntSetting {
  int& (*of)(Settings&);
  int min = 0;
  int max = std::numeric_limits<int>::max();
};
struct DurationSetting {
  Millis& (*of)(Settings&);
  Millis min{0};
  Millis max{0};
};
struct SizeSetting {
  std::size_t& (*of)(Settings&);
  std::size_t min = 0;
  std::size_t max = 0;
};
struct BoolSetting {
  bool& (*of)(Settings&);
};
struct TextSetting {
  std::string& (*of)(Settings&);
};
struct ListSetting {
  std::vector<std::string>& (*of)(Settings&);
};
struct WordSetting {  // one of a few words
  std::vector<std::string_view> words;
  std::size_t (*get)(Settings&);  // index into words
  void (*set)(Settings&, std::size_t);
};

using SettingKind = std::variant<IntSetting, DurationSetting, SizeSetting, BoolSetting, TextSetting,
                                 ListSetting, WordSetting>;

struct SettingRow {
  std::string_view key;  // "queue.concurrency"
  SettingKind kind;
};

// Grouped by section, in the contract's order.
const std::vector<SettingRow>& setting_table();

// As a file gives it. What a file can hold beyond these is of the wrong type for every setting.
using SettingValue = std::variant<std::string, std::int64_t, bool, std::vector<std::string>>;

// invalid_input with the reason, not naming the key.
Result<Done> set_from_value(const SettingRow& row, const SettingValue& value, Settings& settings);
// As an environment variable or --set gives it: numbers, true and false, lists with commas.
Result<Done> set_from_text(const SettingRow& row, std::string_view text, Settings& settings);
// As TOML: `"5s"`, `4`, `["a", "b"]`.
std::string print_value(const SettingRow& row, const Settings& settings);
// "a whole number between 1 and 256"
std::string wanted(const SettingRow& row);

// The known key that looks most like `key`; empty where none does.
std::string_view nearest_key(std::string_view key);

}  // namespace coderunner::app
