#include "app/json_views.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "adapters/http_server/http.h"
#include "app/raw_member.h"
#include "app/request_parts.h"
#include "base/byte_order_mark.h"

namespace coderunner::app {
namespace {

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json time_or_null(const std::optional<UtcTime>& at) {
  return at ? Json(to_rfc3339(*at)) : Json(nullptr);
}

Json execution_object(const ExecutionReport& report) {
  const Execution& execution = report.execution;
  Json json{{"execution_id", execution.id.value},
            {"job_id", execution.job ? Json(execution.job->value) : Json(nullptr)},
            {"account", execution.account},
            {"identifier", or_null(execution.identifier)},
            {"state", to_text(execution.state())},
            {"status", to_text(execution.status)},
            {"error_code", or_null(execution.error_code)},
            {"error_message", or_null(execution.error_message)},
            {"queued_at", to_rfc3339(execution.queued_at)},
            {"started_at", time_or_null(execution.started_at)},
            {"finished_at", time_or_null(execution.finished_at)},
            {"queued_reason", nullptr},
            {"queued_until", nullptr},
            {"apikey_hash", execution.key ? Json(execution.key->value) : Json(nullptr)}};
  if (report.waits) {
    json["queued_reason"] = to_text(report.waits->reason);
    json["queued_until"] = time_or_null(report.waits->until);
  }
  return json;
}

Json log_object(const LogLine& line) {
  Json json{{"at", to_rfc3339(line.at)}, {"level", line.level}, {"message", line.message}};
  if (line.call)
    json["call"] =
        Json{{"method", line.call->method},          {"path", line.call->path},
             {"status", or_null(line.call->status)}, {"ms", line.call->duration.count()},
             {"attempt", line.call->attempt},        {"remaining", or_null(line.call->remaining)}};
  return json;
}

}  // namespace

std::string error_json(const ErrorView& error) {
  Json details = Json::object();
  if (!error.field.empty()) details["field"] = error.field;
  if (error.line) details["line"] = *error.line;
  if (error.execution) details["execution_id"] = error.execution->value;
  if (error.outcome_unknown) details["outcome"] = "unknown";
  return text_of(
      Json{{"error",
            {{"code", error.code}, {"message", error.message}, {"details", std::move(details)}}}});
}

std::string admitted_json(ExecutionId execution, JobId job, Status status) {
  return text_of(
      Json{{"execution_id", execution.value}, {"job_id", job.value}, {"status", to_text(status)}});
}

std::string execution_json(const ExecutionReport& report,
                           const std::optional<ExecutionText>& text) {
  Json json = execution_object(report);
  if (text) {
    json["source"] = or_null(text->source);
    json["payload"] = or_null(text->payload);
  }
  return text_of(json);
}

std::string executions_json(const std::vector<ExecutionReport>& reports, int limit) {
  Json list = Json::array();
  for (const ExecutionReport& report : reports) list.push_back(execution_object(report));
  const bool full = static_cast<int>(reports.size()) == limit;
  return text_of(Json{{"executions", std::move(list)},
                      {"next", full ? Json(reports.back().execution.id.value) : Json(nullptr)}});
}

std::string logs_json(const std::vector<LogLine>& lines, LogId after) {
  Json list = Json::array();
  for (const LogLine& line : lines) list.push_back(log_object(line));
  return text_of(Json{{"logs", std::move(list)},
                      {"next", lines.empty() ? after.value : lines.back().id.value}});
}

std::string queue_json(const QueueReport& report, const ExecutorFigures& executor) {
  Json gated = Json::array();
  for (const GatedKey& key : report.gated_keys)
    gated.push_back(
        {{"key", key.key.value}, {"until", to_rfc3339(key.until)}, {"queued", key.queued}});
  Json accounts = Json::array();
  for (const AccountFigures& account : report.accounts) {
    const Millis age =
        account.oldest_queued_at ? report.now - *account.oldest_queued_at : Millis{0};
    accounts.push_back({{"account", account.account},
                        {"queued", account.queued},
                        {"in_flight", account.in_flight},
                        {"oldest_queued_age_ms", std::max(age, Millis{0}).count()}});
  }
  Json drainer{{"state", to_text(report.state)}, {"last_tick", time_or_null(report.last_tick)}};
  if (!report.executor_error.empty()) drainer["executor_error"] = report.executor_error;
  return text_of(Json{{"depth", report.depth},
                      {"oldest_queued_age_ms", report.oldest_queued_age.count()},
                      {"oldest_eligible_age_ms", report.oldest_eligible_age.count()},
                      {"oldest_parked_age_ms", report.oldest_parked_age.count()},
                      {"in_flight", report.in_flight},
                      {"concurrency", report.concurrency},
                      {"drainer", std::move(drainer)},
                      {"gated_keys", std::move(gated)},
                      {"accounts", std::move(accounts)},
                      {"executor",
                       {{"children", executor.children},
                        {"max_children", executor.max_children},
                        {"max_children_reached", executor.max_children_reached}}}});
}

std::string ready_json(const std::vector<std::string>& reasons) {
  return text_of(Json{{"ready", reasons.empty()}, {"reasons", reasons}});
}

std::string test_report_json(const executor::TestReport& report) {
  Json logs = Json::array();
  for (const LogLine& line : report.logs) logs.push_back(log_object(line));
  const Outcome& outcome = report.outcome;
  return text_of(Json{{"outcome", to_text(outcome.status())},
                      {"error_code", outcome.code ? Json(number(*outcome.code)) : Json(nullptr)},
                      {"error_message", outcome.code ? Json(outcome.message) : Json(nullptr)},
                      {"ms", report.took.count()},
                      {"logs", std::move(logs)}});
}

std::string lint_json(const std::optional<SyntaxError>& error) {
  Json diagnostics = Json::array();
  if (error) diagnostics.push_back({{"line", error->line}, {"message", error->message}});
  return text_of(Json{{"ok", !error}, {"diagnostics", std::move(diagnostics)}});
}

std::variant<SubmissionFields, FieldError, Error> submission_from_json(std::string_view body) {
  body = without_byte_order_mark(body);
  const auto object = json_object(body);
  if (!object) return object.error();
  const Json& json = *object;
  SubmissionFields fields;
  if (auto error = take_text(json, "account", fields.account)) return *std::move(error);
  if (auto error = take_text(json, "apikey", fields.apikey)) return *std::move(error);
  if (auto error = take_text(json, "source", fields.source)) return *std::move(error);
  if (auto error = take_text(json, "identifier", fields.identifier)) return *std::move(error);
  if (auto error = take_flag(json, "debug", fields.debug)) return *std::move(error);
  if (const auto payload = raw_member(body, "payload")) fields.payload = std::string{*payload};
  return fields;
}

std::variant<SubmissionFields, FieldError, Error> submission_from_form(std::string_view body) {
  const auto pairs = parse_form(body);
  if (!pairs) return fail(Failure::invalid_input, "the form body has a malformed escape");
  SubmissionFields fields;
  for (const auto& [name, value] : *pairs) {
    if (name == "account") fields.account = value;
    if (name == "apikey") fields.apikey = value;
    if (name == "source") fields.source = value;
    if (name == "identifier") fields.identifier = value;
    if (name == "payload") fields.payload = value;
    if (name != "debug") continue;
    if (value != "0" && value != "1" && value != "true" && value != "false")
      return FieldError{"debug", "debug must be 1, 0, true or false"};
    fields.debug = value == "1" || value == "true";
  }
  if (fields.payload &&
      (fields.payload->find('\0') != std::string::npos || !Json::accept(*fields.payload)))
    return FieldError{"payload", "payload must be a JSON text"};
  return fields;
}

}  // namespace coderunner::app
