#include "adapters/log/escape.h"

#include <fmt/format.h>

#include "base/text.h"

namespace coderunner {
namespace {

unsigned char byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// Code point of a two- or three-byte character that must not reach a terminal or a line reader as
// it is: C1 controls (U+0080 to U+009F, among them an escape sequence's start), the line and
// paragraph separators, and the marks that turn the reading direction. 0 where it is none.
unsigned unsafe_character(std::string_view text, std::size_t at) {
  if (byte_at(text, at) == 0xC2 && byte_at(text, at + 1) < 0xA0) return byte_at(text, at + 1);
  if (byte_at(text, at) != 0xE2) return 0;
  const unsigned point =
      0x2000U + ((byte_at(text, at + 1) & 0x3FU) << 6U) + (byte_at(text, at + 2) & 0x3FU);
  const bool separator = point == 0x2028 || point == 0x2029;
  const bool direction =
      (point >= 0x202A && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
  return separator || direction ? point : 0;
}

}  // namespace

std::string escape_controls(std::string_view raw, bool quoted) {
  const std::string text = replace_invalid_utf8(raw);
  std::string out;
  out.reserve(text.size() + 8);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const unsigned char byte = byte_at(text, at);
    if (quoted && (text[at] == '"' || text[at] == '\\')) {
      out += '\\';
      out += text[at];
    } else if (text[at] == '\n') {
      out += "\\n";
    } else if (text[at] == '\r') {
      out += "\\r";
    } else if (text[at] == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\u{:04x}", byte);
    } else if (byte < 0x80) {
      out += text[at];
    } else if (const unsigned point = unsafe_character(text, at); point != 0) {
      out += fmt::format("\\u{:04x}", point);
      at += byte == 0xC2 ? 1 : 2;
    } else {
      out += text[at];
    }
  }
  return out;
}

}  // namespace coderunner
