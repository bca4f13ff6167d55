#include "app/setting_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

#include "base/text.h"

namespace coderunner::app {
namespace {

constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;

template <class... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Match(Cases...) -> Match<Cases...>;

std::string print_size(std::size_t bytes) {
  if (bytes != 0 && bytes % kGiB == 0) return fmt::format("{}GiB", bytes / kGiB);
  if (bytes != 0 && bytes % kMiB == 0) return fmt::format("{}MiB", bytes / kMiB);
  if (bytes != 0 && bytes % kKiB == 0) return fmt::format("{}KiB", bytes / kKiB);
  return fmt::format("{}", bytes);
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (byte < 0x20 || byte == 0x7F)
      out += fmt::format("\\u{:04X}", byte);
    else
      out += c;
  }
  return out + '"';
}

std::string shown(const SettingValue& value) {
  return std::visit(Match{[](const std::string& text) { return quoted(clamp_utf8(text, 80)); },
                          [](std::int64_t number) { return fmt::format("{}", number); },
                          [](bool yes) { return std::string{yes ? "true" : "false"}; },
                          [](const std::vector<std::string>&) { return std::string{"a list"}; }},
                    value);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Each read_as answers whether `value` is of the kind's type and within its range.
bool read_as(const IntSetting& kind, const SettingValue& value, Settings& settings) {
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number == nullptr || *number < kind.min || *number > kind.max) return false;
  kind.of(settings) = static_cast<int>(*number);
  return true;
}

bool read_as(const DurationSetting& kind, const SettingValue& value, Settings& settings) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return false;
  const auto duration = parse_duration(*text);
  if (!duration || *duration < kind.min || *duration > kind.max) return false;
  kind.of(settings) = *duration;
  return true;
}

bool read_as(const SizeSetting& kind, const SettingValue& value, Settings& settings) {
  std::optional<std::uint64_t> size;
  if (const auto* text = std::get_if<std::string>(&value)) size = parse_size(*text);
  if (const auto* number = std::get_if<std::int64_t>(&value); number != nullptr && *number >= 0)
    size = static_cast<std::uint64_t>(*number);
  if (!size || *size < kind.min || *size > kind.max) return false;
  kind.of(settings) = *size;
  return true;
}

bool read_as(const BoolSetting& kind, const SettingValue& value, Settings& settings) {
  const auto* yes = std::get_if<bool>(&value);
  if (yes == nullptr) return false;
  kind.of(settings) = *yes;
  return true;
}

bool read_as(const TextSetting& kind, const SettingValue& value, Settings& settings) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return false;
  kind.of(settings) = *text;
  return true;
}

bool read_as(const ListSetting& kind, const SettingValue& value, Settings& settings) {
  const auto* list = std::get_if<std::vector<std::string>>(&value);
  if (list == nullptr) return false;
  kind.of(settings) = *list;
  return true;
}

bool read_as(const WordSetting& kind, const SettingValue& value, Settings& settings) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return false;
  const auto word = std::find(kind.words.begin(), kind.words.end(), *text);
  if (word == kind.words.end()) return false;
  kind.set(settings, static_cast<std::size_t>(word - kind.words.begin()));
  return true;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    if (const auto part = text.substr(0, comma); !part.empty()) parts.emplace_back(part);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return parts;
}

std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  std::size_t distance = to.size();
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = i - 1;
    distance = i;
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      diagonal = row[j];
      distance = std::min({row[j] + 1, distance + 1, replaced});
      row[j] = distance;
    }
  }
  return distance;
}

}  // namespace

std::string wanted(const SettingRow& row) {
  return std::visit(Match{[](const IntSetting& kind) {
                            return fmt::format("a whole number between {} and {}", kind.min,
                                               kind.max);
                          },
                          [](const DurationSetting& kind) {
                            return fmt::format(
                                "a duration between {} and {}, written like \"500ms\", \"5s\" or "
                                "\"15m\"",
                                format_duration(kind.min), format_duration(kind.max));
                          },
                          [](const SizeSetting& kind) {
                            return fmt::format("a size between {} and {}, written like \"64MiB\"",
                                               print_size(kind.min), print_size(kind.max));
                          },
                          [](const BoolSetting&) { return std::string{"true or false"}; },
                          [](const TextSetting&) { return std::string{"a text"}; },
                          [](const ListSetting&) { return std::string{"a list of texts"}; },
                          [](const WordSetting& kind) {
                            return fmt::format("one of {}", fmt::join(kind.words, ", "));
                          }},
                    row.kind);
}

Result<Done> set_from_value(const SettingRow& row, const SettingValue& value, Settings& settings) {
  if (std::visit([&](const auto& kind) { return read_as(kind, value, settings); }, row.kind))
    return Done{};
  return fail(Failure::invalid_input, fmt::format("{} is not {}", shown(value), wanted(row)));
}

Result<Done> set_from_text(const SettingRow& row, std::string_view text, Settings& settings) {
  SettingValue value{std::string{text}};
  if (std::holds_alternative<IntSetting>(row.kind)) {
    if (const auto number = whole_number(text)) value = *number;
  } else if (std::holds_alternative<BoolSetting>(row.kind)) {
    if (text == "true" || text == "false") value = text == "true";
  } else if (std::holds_alternative<ListSetting>(row.kind)) {
    value = split_list(text);
  }
  return set_from_value(row, value, settings);
}

std::string print_value(const SettingRow& row, const Settings& settings) {
  // The accessors hand out places to write to; nothing is written through them here.
  Settings copy = settings;
  return std::visit(
      Match{[&](const IntSetting& kind) { return fmt::format("{}", kind.of(copy)); },
            [&](const DurationSetting& kind) { return quoted(format_duration(kind.of(copy))); },
            [&](const SizeSetting& kind) { return quoted(print_size(kind.of(copy))); },
            [&](const BoolSetting& kind) { return std::string{kind.of(copy) ? "true" : "false"}; },
            [&](const TextSetting& kind) { return quoted(kind.of(copy)); },
            [&](const ListSetting& kind) {
              std::vector<std::string> parts;
              for (const std::string& part : kind.of(copy)) parts.push_back(quoted(part));
              return fmt::format("[{}]", fmt::join(parts, ", "));
            },
            [&](const WordSetting& kind) { return quoted(kind.words.at(kind.get(copy))); }},
      row.kind);
}

std::string_view nearest_key(std::string_view key) {
  std::string_view nearest;
  std::size_t least = std::max<std::size_t>(2, key.size() / 3) + 1;
  for (const SettingRow& row : setting_table()) {
    const std::size_t distance = edit_distance(key, row.key);
    if (distance >= least) continue;
    least = distance;
    nearest = row.key;
  }
  return nearest;
}

}  // namespace coderunner::app
