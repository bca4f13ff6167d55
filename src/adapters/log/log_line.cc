#include "adapters/log/log_line.h"

#include <fmt/format.h>

#include "base/text.h"
#include "domain/limits.h"

namespace coderunner {
namespace {

std::string_view to_text(Level level) {
  switch (level) {
    case Level::debug: return "debug";
    case Level::info: return "info";
    case Level::warn: return "warn";
    case Level::error: return "error";
  }
  return "";
}

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

// JSON's escapes, which logfmt readers understand as well. `text` is valid UTF-8.
std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 8);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const unsigned char byte = byte_at(text, at);
    if (text[at] == '"' || text[at] == '\\') {
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

std::string clean(std::string_view value) {
  return clamp_utf8(replace_invalid_utf8(value), limits::kMaxLogFieldBytes, "...");
}

// A bare word is one no reader can split or misread.
bool is_bare(std::string_view value) {
  if (value.empty()) return false;
  for (const char c : value)
    if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7F ||
        c == '"' || c == '\\' || c == '=')
      return false;
  return true;
}

std::string field_name(std::string_view name) {
  std::string safe{name};
  for (char& c : safe) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '.' || c == '-';
    if (!plain) c = '_';
  }
  return safe;
}

class Line {
 public:
  explicit Line(LogFormat format) : format_(format) {}

  void add(std::string_view name, std::string_view value) {
    const std::string text = clean(value);
    switch (format_) {
      case LogFormat::logfmt:
        append(is_bare(text) ? fmt::format("{}={}", field_name(name), text)
                             : fmt::format("{}=\"{}\"", field_name(name), escaped(text)));
        return;
      case LogFormat::json:
        append(fmt::format("\"{}\":\"{}\"", field_name(name), escaped(text)));
        return;
    }
  }

  void add_number(std::string_view name, std::int64_t value) {
    switch (format_) {
      case LogFormat::logfmt: append(fmt::format("{}={}", name, value)); return;
      case LogFormat::json: append(fmt::format("\"{}\":{}", name, value)); return;
    }
  }

  std::string text() && {
    return format_ == LogFormat::json ? fmt::format("{{{}}}", text_) : std::move(text_);
  }

 private:
  void append(std::string_view part) {
    if (!text_.empty()) text_ += format_ == LogFormat::json ? ',' : ' ';
    text_ += part;
  }

  LogFormat format_;
  std::string text_;
};

}  // namespace

std::string log_line(const Event& event, const LogStamp& stamp, LogFormat format) {
  Line line{format};
  line.add("time", to_rfc3339(stamp.at));
  line.add("level", to_text(event.level));
  line.add("event", event.name);
  if (!stamp.role.empty()) line.add("role", stamp.role);
  if (event.execution) line.add_number("execution", event.execution->value);
  for (const auto& [name, value] : event.fields) line.add(name, value);
  return std::move(line).text();
}

}  // namespace coderunner
