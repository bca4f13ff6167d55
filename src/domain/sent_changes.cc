#include "domain/sent_changes.h"

#include <fmt/format.h>

namespace coderunner {
namespace {

constexpr std::string_view kReaped = "reaped: ";

bool is_result_of(const ApiCall& call, const ApiCall& sending) {
  return call.method == sending.method && call.path == sending.path &&
         call.attempt == sending.attempt;
}

}  // namespace

std::string sent_change(const ApiCall& call) {
  return fmt::format("{} {}: {}", call.method, call.path,
                     call.status ? fmt::to_string(*call.status) : "no answer");
}

// One call at a time: the line after a "sending" of the same call is its result, with a status or
// without one.
std::vector<std::string> sent_changes(const std::vector<LogLine>& lines) {
  std::vector<std::string> sent;
  std::optional<ApiCall> open;
  for (const LogLine& line : lines) {
    if (!line.call || line.call->method == "GET") continue;
    if (open && is_result_of(*line.call, *open)) {
      sent.back() = sent_change(*line.call);
      open.reset();
      continue;
    }
    sent.push_back(sent_change(*line.call));
    open = line.call;
  }
  return sent;
}

std::string ended_from_outside(std::string_view reason, const std::vector<std::string>& sent) {
  if (sent.empty()) return fmt::format("{}; it had sent no change", reason);
  return fmt::format("{}; it had sent {}: {}", reason, sent.size(), fmt::join(sent, ", "));
}

std::string reaped(std::string_view reason, const std::vector<std::string>& sent) {
  return ended_from_outside(fmt::format("{}{}", kReaped, reason), sent);
}

bool was_reaped(std::optional<int> error_code, std::string_view error_message) {
  return error_code == number(ErrorCode::ended_from_outside) && error_message.starts_with(kReaped);
}

std::string executor_place(const ExecutorId& executor) {
  std::vector<std::string_view> parts;
  for (std::string_view rest = executor.value;;) {
    const std::size_t bar = rest.find('|');
    parts.push_back(rest.substr(0, bar));
    if (bar == std::string_view::npos) break;
    rest.remove_prefix(bar + 1);
  }
  // host|boot id|pid namespace|pid|start time
  return parts.size() == 5 ? fmt::format("{}, pid {}", parts[0], parts[3]) : executor.value;
}

}  // namespace coderunner
