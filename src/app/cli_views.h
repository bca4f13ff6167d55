// The server's JSON as text for people. Called by the commands; pure. Whatever is missing or of
// another type is shown as a dash: a newer or older server must not end a command.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace coderunner::app {

// GET /queue/data
std::string status_view(std::string_view body);
// GET /codeRunner/logs/data
std::string list_view(std::string_view body, UtcTime now);
// GET /executions/{id}, and GET /gates where `waits_for_gate` and the caller may read it.
std::string show_view(std::string_view body, UtcTime now, std::string_view gates = {});
bool waits_for_gate(std::string_view body);
// "a 429", "a minute used up" or "an operator", by the status of one of the gates.
std::string closed_by(std::int64_t status);
// The same as JSON with "timeline": [{"at","event","after_ms"}].
std::string show_json(std::string_view body);

struct LogPage {
  std::string text;  // one line for each log line
  int lines = 0;
  std::int64_t next = 0;  // what to ask `after`
};
// GET /executions/{id}/logs; nullopt where it is not such a page.
std::optional<LogPage> log_page(std::string_view body);

struct Progress {  // what a command that follows an execution must know of it
  std::int64_t execution_id = 0;
  std::string state;
  bool finished = false;
  bool succeeded = false;
  std::string line;  // "execution 7 failed after 1.2s (waited 250ms): message (code 301)"
};
// GET /executions/{id}; nullopt where it is no execution.
std::optional<Progress> progress_of(std::string_view body);

// POST /codeRunner: the number; nullopt where the answer holds none.
std::optional<std::int64_t> admitted_id(std::string_view body);

}  // namespace coderunner::app
