#include "app/config_file.h"

// The library asserts what a stranger's text can break ("[[[", a NUL in a table's name).
namespace {
struct ParserGaveUp {};
}  // namespace
#define TOML_ASSERT(holds) (static_cast<bool>(holds) ? static_cast<void>(0) : throw ParserGaveUp{})
#ifndef __clang__  // in the library's noexcept functions it ends the program, as an assert would
#pragma GCC diagnostic ignored "-Wterminate"
#endif

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>
#include <tuple>

#include "base/byte_order_mark.h"
#include "base/text.h"

namespace coderunner::app {
namespace {

constexpr char kEscape = '~';

// Outside of quotes the library's own answer to a letter beyond ASCII is undefined behaviour: it is
// given none. "é" goes in as "~C3~A9" and comes back by restored(), "~" as "~7E".
std::string in_ascii(std::string_view text) {
  std::string ascii;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && c != kEscape)
      ascii += c;
    else
      ascii += fmt::format("{}{:02X}", kEscape, byte);
  }
  return ascii;
}

std::string restored(std::string_view ascii) {
  std::string text;
  for (std::size_t at = 0; at < ascii.size(); ++at) {
    const std::string_view digits = ascii.substr(at + 1, 2);
    const auto byte = ascii[at] == kEscape && digits.size() == 2 ? from_hex(digits) : std::nullopt;
    text += byte ? static_cast<char>(byte->front()) : ascii[at];
    if (byte) at += digits.size();
  }
  return text;
}

std::optional<SettingValue> value_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return SettingValue{restored(text->get())};
  if (const auto* number = node.as_integer()) return SettingValue{number->get()};
  if (const auto* yes = node.as_boolean()) return SettingValue{yes->get()};
  const auto* list = node.as_array();
  if (list == nullptr) return std::nullopt;
  std::vector<std::string> texts;
  for (const toml::node& item : *list) {
    if (!item.is_string()) return std::nullopt;
    texts.push_back(restored(item.as_string()->get()));
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
    found.push_back({restored(key), value_of(node), type_of(node), at.line, at.column});
  }
}

}  // namespace

Result<std::vector<FileSetting>> read_toml(std::string_view text, std::string_view name) {
  text = without_byte_order_mark(text);
  if (!is_valid_utf8(text)) return fail(Failure::invalid_input, fmt::format("{}: no UTF-8", name));
  try {
    std::vector<FileSetting> found;
    collect(toml::parse(in_ascii(text), name), "", found);
    std::stable_sort(found.begin(), found.end(), [](const FileSetting& a, const FileSetting& b) {
      return std::tie(a.line, a.column) < std::tie(b.line, b.column);
    });
    return found;
  } catch (const toml::parse_error& error) {
    const auto at = error.source().begin;
    return fail(Failure::invalid_input, fmt::format("{}:{}:{}: {}", name, at.line, at.column,
                                                    restored(error.description())));
  } catch (const ParserGaveUp&) {
    return fail(Failure::invalid_input,
                fmt::format("{}: no TOML: the name of a table in '[...]' begins with a character "
                            "that no name can begin with",
                            name));
  }
}

}  // namespace coderunner::app
