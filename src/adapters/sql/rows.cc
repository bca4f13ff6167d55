#include "adapters/sql/rows.h"

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace coderunner::sql {
namespace {

std::string shown(const Row& row, std::size_t column) {
  return replace_invalid_utf8(row.text(column));
}

std::optional<std::string> maybe_shown(const Row& row, std::size_t column) {
  return row.is_null(column) ? std::nullopt : std::optional{shown(row, column)};
}

}  // namespace

Execution read_execution(const Row& row) {
  Execution execution;
  execution.id = {row.number(0)};
  if (const auto job = row.maybe_number(1)) execution.job = JobId{*job};
  execution.account = shown(row, 2);
  execution.account_id = {row.text(3)};
  execution.key = maybe_id<ApiKeyHash>(row, 4);
  execution.identifier = maybe_shown(row, 5);
  execution.status = status_from_text(row.text(6)).value_or(Status::error);
  if (const auto code = row.maybe_number(7)) execution.error_code = static_cast<int>(*code);
  execution.error_message = maybe_shown(row, 8);
  execution.debug = row.number(9) != 0;
  execution.queued_at = row.time(10);
  execution.started_at = row.maybe_time(11);
  execution.finished_at = row.maybe_time(12);
  execution.run = maybe_id<RunId>(row, 13);
  execution.executor = maybe_id<ExecutorId>(row, 14);
  return execution;
}

Begun read_begun(const Row& row) {
  Begun begun;
  begun.execution = {row.number(0)};
  begun.account = row.text(1);
  begun.key = maybe_id<ApiKeyHash>(row, 2);
  begun.sealed_key = row.maybe_text(3);
  begun.source = row.text(4);
  begun.payload = row.maybe_text(5);
  begun.identifier = row.maybe_text(6);
  begun.debug = row.number(7) != 0;
  return begun;
}

RunningRow read_running(const Row& row) {
  return {{row.number(0)},
          {row.text(1)},
          maybe_id<RunId>(row, 2),
          maybe_id<ExecutorId>(row, 3),
          row.time(4),
          maybe_id<ApiKeyHash>(row, 5)};
}

LogLine read_log_line(const Row& row) {
  LogLine line{{row.number(0)}, row.time(1), shown(row, 2), shown(row, 3), std::nullopt};
  if (const auto call = row.maybe_text(4)) line.call = read_call(*call);
  return line;
}

Gate read_gate(const Row& row) {
  Gate gate;
  gate.key = {row.text(0)};
  gate.until = row.time(1);
  gate.first_seen = row.time(2);
  gate.last_seen = row.time(3);
  if (const auto hint = row.maybe_number(4)) gate.hint = Millis{*hint};
  gate.status = static_cast<int>(row.number(5));
  gate.limited_at = row.maybe_time(6);
  gate.longest = Millis{row.number(7)};
  return gate;
}

GateRecord read_gate_record(const Row& row) { return {read_gate(row), row.number(8) != 0}; }

std::string write_call(const ApiCall& call) {
  using Json = nlohmann::json;
  const auto or_null = [](const std::optional<int>& number) {
    return number ? Json(*number) : Json(nullptr);
  };
  const Json json{{"method", call.method},          {"path", call.path},
                  {"status", or_null(call.status)}, {"ms", call.duration.count()},
                  {"attempt", call.attempt},        {"remaining", or_null(call.remaining)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<ApiCall> read_call(const std::string& text) {
  using Json = nlohmann::json;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto words = [&json](const char* name) {
    const auto at = json.find(name);
    return at != json.end() && at->is_string() ? at->get<std::string>() : std::string{};
  };
  const auto number = [&json](const char* name) {
    const auto at = json.find(name);
    return at != json.end() && at->is_number_integer() ? std::optional{at->get<std::int64_t>()}
                                                       : std::nullopt;
  };
  const auto small = [&number](const char* name) -> std::optional<int> {
    const auto value = number(name);
    return value ? std::optional{static_cast<int>(*value)} : std::nullopt;
  };
  return ApiCall{words("method"),
                 words("path"),
                 small("status"),
                 Millis{number("ms").value_or(0)},
                 small("attempt").value_or(1),
                 small("remaining")};
}

Value clamped(const std::string& text, std::size_t max_bytes) {
  if (text.empty()) return std::nullopt;
  return clamp_utf8(replace_invalid_utf8(text), max_bytes, "…");
}

}  // namespace coderunner::sql
