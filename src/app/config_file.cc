#include "app/config_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>
#include <tuple>

namespace coderunner::app {
namespace {

std::optional<SettingValue> value_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return SettingValue{text->get()};
  if (const auto* number = node.as_integer()) return SettingValue{number->get()};
  if (const auto* yes = node.as_boolean()) return SettingValue{yes->get()};
  const auto* list = node.as_array();
  if (list == nullptr) return std::nullopt;
  std::vector<std::string> texts;
  for (const toml::node& item : *list) {
    if (!item.is_string()) return std::nullopt;
    texts.push_back(item.as_string()->get());
  }
  return SettingValue{std::move(texts)};
}

std::string type_of(const toml::node& node) {
  std::ostringstream name;
  name << node.type();
  return name.str();
}

void collect(const toml::table& table, const std::string& prefix, std::vector<FileSetting>& found) {
  for (const auto& [name, node] : table) {
    const std::string key =
        prefix.empty() ? std::string{name.str()} : fmt::format("{}.{}", prefix, name.str());
    if (const auto* inner = node.as_table(); inner != nullptr && !inner->empty()) {
      collect(*inner, key, found);
      continue;
    }
    // An empty section sets nothing, whatever it is called: its name is still worth checking.
    const auto at = node.source().begin;
    found.push_back({key, value_of(node), type_of(node), at.line, at.column});
  }
}

// The library's parser aborts on a table name that begins with a bracket ("[[["): the line of the
// first such one.
std::optional<std::size_t> line_of_bad_header(std::string_view text) {
  constexpr std::string_view kBlank = " \t";
  std::size_t line = 1;
  while (!text.empty()) {
    const std::string_view here = text.substr(0, text.find('\n'));
    std::size_t at = here.find_first_not_of(kBlank);
    for (int brackets = 0; brackets < 2 && at < here.size() && here[at] == '['; ++brackets)
      at = here.find_first_not_of(kBlank, at + 1);
    if (at != std::string_view::npos && at > 1 && here[at] == '[') return line;
    text.remove_prefix(std::min(here.size() + 1, text.size()));
    ++line;
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<FileSetting>> read_toml(std::string_view text, std::string_view name) {
  if (const auto line = line_of_bad_header(text))
    return fail(Failure::invalid_input,
                fmt::format("{}:{}:1: a table's name can not begin with '['", name, *line));
  try {
    std::vector<FileSetting> found;
    collect(toml::parse(text, name), "", found);
    std::stable_sort(found.begin(), found.end(), [](const FileSetting& a, const FileSetting& b) {
      return std::tie(a.line, a.column) < std::tie(b.line, b.column);
    });
    return found;
  } catch (const toml::parse_error& error) {
    const auto at = error.source().begin;
    return fail(Failure::invalid_input,
                fmt::format("{}:{}:{}: {}", name, at.line, at.column, error.description()));
  }
}

}  // namespace coderunner::app
