#include "base/text.h"

#include <array>
#include <charconv>

namespace coderunner {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool is_continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// Length of the well-formed character that starts at `at`, 0 where there is none.
std::size_t character_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  if (first >= 0xC2 && first <= 0xDF) length = 2;
  if (first >= 0xE0 && first <= 0xEF) length = 3;
  if (first >= 0xF0 && first <= 0xF4) length = 4;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!is_continuation(byte(at + i))) return 0;
  const unsigned char second = byte(at + 1);
  if (first == 0xE0 && second < 0xA0) return 0;  // overlong
  if (first == 0xED && second > 0x9F) return 0;  // surrogates
  if (first == 0xF0 && second < 0x90) return 0;  // overlong
  if (first == 0xF4 && second > 0x8F) return 0;  // above U+10FFFF
  return length;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    if (length == 0) {
      clean += kReplacement;
      ++at;
    } else {
      clean += text.substr(at, length);
      at += length;
    }
  }
  return clean;
}

std::string clamp_utf8(std::string_view text, std::size_t max_bytes, std::string_view mark) {
  if (text.size() <= max_bytes) return std::string{text};
  if (mark.size() >= max_bytes) mark = {};
  std::size_t keep = max_bytes - mark.size();
  while (keep > 0 && is_continuation(static_cast<unsigned char>(text[keep]))) --keep;
  return std::string{text.substr(0, keep)} + std::string{mark};
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text)
    if (!is_continuation(static_cast<unsigned char>(c))) ++count;
  return count;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    hex += kDigits[byte >> 4U];
    hex += kDigits[byte & 0x0FU];
  }
  return hex;
}

std::optional<std::vector<std::uint8_t>> from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::vector<std::uint8_t> bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t at = 0; at < hex.size(); at += 2) {
    const int high = hex_digit(hex[at]), low = hex_digit(hex[at + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<std::uint8_t>(high * 16 + low));
  }
  return bytes;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  struct Unit {
    std::string_view name;
    unsigned shift;
  };
  constexpr std::array<Unit, 4> kUnits{{{"", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}}};
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view name = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const Unit& unit : kUnits)
    if (unit.name == name && count <= (UINT64_MAX >> unit.shift)) return count << unit.shift;
  return std::nullopt;
}

}  // namespace coderunner
