#include "adapters/log/log_line.h"

#include <fmt/format.h>

#include "adapters/log/escape.h"
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
        append(is_bare(text)
                   ? fmt::format("{}={}", field_name(name), text)
                   : fmt::format("{}=\"{}\"", field_name(name), escape_controls(text, true)));
        return;
      case LogFormat::json:
        append(fmt::format("\"{}\":\"{}\"", field_name(name), escape_controls(text, true)));
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
