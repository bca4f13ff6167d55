#include "app/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "adapters/system/file.h"
#include "app/config_file.h"
#include "app/setting_rules.h"
#include "app/setting_table.h"

namespace coderunner::app {
namespace {

constexpr std::string_view kPrefix = "CODERUNNER_";

std::string_view section_of(std::string_view key) { return key.substr(0, key.find('.')); }

const SettingRow* find_row(std::string_view key) {
  for (const SettingRow& row : setting_table())
    if (row.key == key) return &row;
  return nullptr;
}

bool is_section(std::string_view name) {
  return std::any_of(setting_table().begin(), setting_table().end(),
                     [&](const SettingRow& row) { return section_of(row.key) == name; });
}

std::string unknown_setting(std::string_view key) {
  const std::string_view nearest = nearest_key(key);
  return nearest.empty() ? fmt::format("unknown setting {}", key)
                         : fmt::format("unknown setting {}: did you mean {}?", key, nearest);
}

// Settings being put together: what was set, where, and what was wrong about it.
class Draft {
 public:
  void add_toml(std::string_view text, std::string_view name) {
    const auto found = read_toml(text, name);
    if (!found) {
      mistakes_.push_back(found.error().message);
      return;
    }
    for (const FileSetting& setting : *found) add_file_setting(setting, name);
  }

  void add_environment(const std::map<std::string, std::string>& environment) {
    std::map<std::string, const SettingRow*> known;
    for (const SettingRow& row : setting_table()) known[environment_name(row.key)] = &row;
    for (const auto& [name, value] : environment) {
      if (const auto row = known.find(name); row != known.end())
        add_text(*row->second, value, name);
      else if (names_a_section(name))
        mistakes_.push_back(fmt::format("{}: {}", name, unknown_variable(name, known)));
    }
  }

  void add_override(std::string_view key, std::string_view value) {
    const std::string place = fmt::format("--set {}", key);
    if (const SettingRow* row = find_row(key))
      add_text(*row, value, place);
    else
      mistakes_.push_back(fmt::format("{}: {}", place, unknown_setting(key)));
  }

  Result<Settings> finish() && {
    std::string& base_url = settings_.api.base_url;
    while (base_url.ends_with('/')) base_url.pop_back();
    // A value that was refused would break rules that the operator's own value does not.
    if (mistakes_.empty())
      for (const BrokenRule& rule : broken_rules(settings_))
        mistakes_.push_back(fmt::format("{}{}: {}", place_of(rule.key), rule.key, rule.message));
    if (mistakes_.empty()) return std::move(settings_);
    return fail(Failure::invalid_input, fmt::format("{}", fmt::join(mistakes_, "\n")));
  }

 private:
  void add_file_setting(const FileSetting& setting, std::string_view name) {
    const std::string place = fmt::format("{}:{}:{}", name, setting.line, setting.column);
    if (is_section(setting.key)) {
      if (setting.type != "table")
        mistakes_.push_back(fmt::format("{}: {} is a section: write [{}] and its keys below it",
                                        place, setting.key, setting.key));
      return;
    }
    const SettingRow* row = find_row(setting.key);
    if (row == nullptr) {
      mistakes_.push_back(fmt::format("{}: {}", place, unknown_setting(setting.key)));
      return;
    }
    places_[row->key] = place;
    if (!setting.value) {
      mistakes_.push_back(
          fmt::format("{}: {}: a TOML {} is not {}", place, row->key, setting.type, wanted(*row)));
      return;
    }
    note(set_from_value(*row, *setting.value, settings_), fmt::format("{}: {}", place, row->key));
  }

  void add_text(const SettingRow& row, std::string_view value, const std::string& place) {
    places_[row.key] = place;
    note(set_from_text(row, value, settings_), place);
  }

  void note(const Result<Done>& result, const std::string& where) {
    if (!result) mistakes_.push_back(fmt::format("{}: {}", where, result.error().message));
  }

  std::string place_of(std::string_view key) const {
    const auto place = places_.find(key);
    return place == places_.end() ? std::string{} : place->second + ": ";
  }

  // CODERUNNER_QUEUE_CONCURENCY is a mistake; CODERUNNER_HOME is somebody else's business.
  static bool names_a_section(std::string_view name) {
    return std::any_of(setting_table().begin(), setting_table().end(), [&](const SettingRow& row) {
      return name.starts_with(environment_name(section_of(row.key)) + "_");
    });
  }

  static std::string unknown_variable(std::string_view name,
                                      const std::map<std::string, const SettingRow*>& known) {
    std::string key{name.substr(kPrefix.size())};
    std::transform(key.begin(), key.end(), key.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    key[key.find('_')] = '.';
    const std::string_view nearest = nearest_key(key);
    for (const auto& [variable, row] : known)
      if (row->key == nearest) return fmt::format("no such setting: did you mean {}?", variable);
    return "no such setting";
  }

  Settings settings_;
  std::map<std::string_view, std::string> places_;
  std::vector<std::string> mistakes_;
};

}  // namespace

Result<Settings> load_settings(const ConfigSources& sources) {
  Draft draft;
  std::error_code ignored;
  std::optional<std::string> file = sources.file;
  if (!file && std::filesystem::exists(kDefaultConfigFile, ignored)) file = kDefaultConfigFile;
  if (file) {
    const auto text = read_file(*file, limits::kMaxConfigBytes);
    if (!text) return text.error();
    draft.add_toml(*text, *file);
  }
  draft.add_environment(sources.environment);
  for (const auto& [key, value] : sources.overrides) draft.add_override(key, value);
  return std::move(draft).finish();
}

Result<Settings> parse_settings(std::string_view toml, std::string_view name) {
  Draft draft;
  draft.add_toml(toml, name);
  return std::move(draft).finish();
}

std::string to_toml(const Settings& settings) {
  std::string text;
  std::string_view section;
  for (const SettingRow& row : setting_table()) {
    if (const auto of_row = section_of(row.key); of_row != section) {
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", of_row);
      section = of_row;
    }
    text +=
        fmt::format("{} = {}\n", row.key.substr(section.size() + 1), print_value(row, settings));
  }
  return text;
}

std::map<std::string, std::string> coderunner_environment() {
  std::map<std::string, std::string> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (text.starts_with(kPrefix) && equals != std::string_view::npos)
      found.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return found;
}

std::string environment_name(std::string_view key) {
  std::string name{kPrefix};
  for (const char c : key)
    name += c == '.' ? '_' : (c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c);
  return name;
}

}  // namespace coderunner::app
