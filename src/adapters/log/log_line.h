// One event as one line of text, logfmt or JSON. Called by LogEvents. Whatever a field holds, the
// line stays one line, the fields keep their borders, and a terminal is told nothing.
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "seams/events.h"

namespace coderunner {

enum class LogFormat { logfmt, json };

struct LogStamp {  // what every line of one process carries
  UtcTime at;
  std::string_view role;  // "serve", "executor-worker"; empty: left out
};

// Without a trailing newline. A value longer than limits::kMaxLogFieldBytes is cut with a mark;
// malformed UTF-8 becomes U+FFFD.
std::string log_line(const Event& event, const LogStamp& stamp, LogFormat format);

}  // namespace coderunner
