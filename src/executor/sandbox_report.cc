#include "executor/sandbox_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace coderunner::executor {

bool SandboxReport::is_complete() const {
  return std::all_of(features.begin(), features.end(),
                     [](const SandboxFeature& feature) { return feature.holds; });
}

std::string SandboxReport::names_of(bool holding) const {
  std::string text;
  for (const SandboxFeature& feature : features)
    if (feature.holds == holding) text += (text.empty() ? "" : ", ") + feature.name;
  return text;
}

std::string SandboxReport::missing() const {
  std::string text;
  for (const SandboxFeature& feature : features)
    if (!feature.holds)
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", feature.name, feature.detail);
  return text;
}

std::string to_text(const SandboxReport& report) {
  nlohmann::json list = nlohmann::json::array();
  for (const SandboxFeature& feature : report.features)
    list.push_back({feature.name, feature.holds, feature.detail});
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<SandboxReport> parse_sandbox_report(std::string_view text) {
  const auto list = nlohmann::json::parse(text, nullptr, false);
  if (!list.is_array()) return std::nullopt;
  SandboxReport report;
  for (const auto& row : list) {
    if (!row.is_array() || row.size() != 3 || !row[0].is_string() || !row[1].is_boolean() ||
        !row[2].is_string())
      return std::nullopt;
    report.features.push_back({row[0], row[1], row[2]});
  }
  return report;
}

}  // namespace coderunner::executor
