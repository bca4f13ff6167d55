#include "app/routes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "app/answers.h"
#include "app/request_parts.h"
#include "app/submission_body.h"
#include "domain/limits.h"

namespace coderunner::app {
namespace {

constexpr std::string_view kExecutions = "/executions/";
constexpr std::string_view kLogs = "/logs";
constexpr const char* kAlive = R"({"status":"ok"})";

HttpResponse rejected_answer(const Rejected& rejected) {
  HttpResponse response = json_answer(rejected.full == TooDeep::Of::account ? 429 : 503,
                                      error_json({.code = number(ErrorCode::rejected_for_depth),
                                                  .message = rejected.message,
                                                  .execution = rejected.execution}));
  const auto wait = std::chrono::ceil<std::chrono::seconds>(limits::kRetryAfterRejection);
  response.headers.emplace_back("Retry-After", std::to_string(wait.count()));
  return response;
}

HttpResponse key_reused_answer(const KeyReused& reused) {
  return error_answer(
      409, {.code = 409,
            .message = "this Idempotency-Key was used within 24 hours for another submission",
            .execution = reused.first});
}

HttpResponse admission_answer(const AdmissionAnswer& answer) {
  if (const auto* admitted = std::get_if<Admitted>(&answer))
    return json_answer(202, admitted_json(admitted->execution, admitted->job, Status::queued));
  if (const auto* repeated = std::get_if<Repeated>(&answer))
    return json_answer(
        200, admitted_json(repeated->first.execution, repeated->first.job, repeated->status));
  if (const auto* reused = std::get_if<KeyReused>(&answer)) return key_reused_answer(*reused);
  if (const auto* rejected = std::get_if<Rejected>(&answer)) return rejected_answer(*rejected);
  if (const auto* error = std::get_if<FieldError>(&answer)) return field_error(*error);
  if (const auto* refused = std::get_if<Unparsable>(&answer))
    return unparsable_answer(refused->error, refused->execution);
  return store_error(std::get<Error>(answer));
}

using Query = std::map<std::string, std::string>;

std::optional<Query> parse_query(const HttpRequest& request) {
  const auto pairs = parse_form(request.query);
  if (!pairs) return std::nullopt;
  return Query{pairs->begin(), pairs->end()};
}

std::string value_of(const Query& query, const std::string& name) {
  const auto found = query.find(name);
  return found == query.end() ? std::string{} : found->second;
}

// The number named `name`, `otherwise` where it is absent; FieldError where it is no number from
// `least`.
std::variant<std::int64_t, FieldError> number_of(const Query& query, const std::string& name,
                                                 std::int64_t least, std::int64_t otherwise) {
  const std::string text = value_of(query, name);
  if (text.empty()) return otherwise;
  const auto value = whole_number(text);
  if (!value || *value < least)
    return FieldError{name, name + " must be a whole number from " + std::to_string(least)};
  return *value;
}

// {id} and what follows it, of "/executions/{id}...".
std::optional<std::pair<ExecutionId, std::string_view>> execution_path(std::string_view path) {
  if (!path.starts_with(kExecutions)) return std::nullopt;
  path.remove_prefix(kExecutions.size());
  const std::size_t end = path.find('/');
  const auto id = whole_number(path.substr(0, end));
  if (!id) return std::nullopt;
  return std::pair{ExecutionId{*id},
                   end == std::string_view::npos ? std::string_view{} : path.substr(end)};
}

// What may be done at a path, for 405; empty: no such path.
std::string_view allowed_methods(std::string_view path) {
  if (path == "/codeRunner" || path == kTestPath || path == kLintPath) return "POST";
  if (path == "/codeRunner/logs/data" || path == "/queue/data" || path == "/healthz" ||
      path == "/readyz")
    return "GET, HEAD";
  const auto execution = execution_path(path);
  if (execution && (execution->second.empty() || execution->second == kLogs)) return "GET, HEAD";
  return operator_methods(path);
}

// "GET, HEAD" allows HEAD.
bool is_one_of(std::string_view method, std::string_view allowed) {
  for (std::size_t at = 0; at < allowed.size();) {
    const std::size_t end = std::min(allowed.find(", ", at), allowed.size());
    if (allowed.substr(at, end - at) == method) return true;
    at = end + 2;
  }
  return false;
}

std::optional<HttpResponse> path_error(const HttpRequest& request) {
  const std::string_view allowed = allowed_methods(request.path);
  if (allowed.empty()) return plain_error(404, "nothing is here: " + request.path.substr(0, 200));
  if (is_one_of(request.method, allowed)) return std::nullopt;
  return method_error(request.method, allowed);
}

}  // namespace

void Routes::handle(HttpRequest request, HttpRespond respond) {
  const std::string request_id{request.header("x-request-id").substr(0, 200)};
  HttpRespond answer = [request_id, respond = std::move(respond)](HttpResponse response) {
    if (!request_id.empty()) response.headers.emplace_back("X-Request-Id", request_id);
    response.headers.emplace_back("X-Content-Type-Options", "nosniff");
    respond(std::move(response));
  };
  if (auto error = path_error(request)) return answer(*std::move(error));
  if (request.path == "/healthz") return answer(json_answer(200, kAlive));
  if (request.path == kTestPath) return parts_.scripts.test(request, answer);
  const bool taken =
      parts_.pool.post([this, request = std::move(request), answer] { dispatch(request, answer); });
  if (!taken) answer(plain_error(503, "too much is waiting to be done here; try again"));
}

// What a library throws here is this request's failure and nobody else's.
void Routes::dispatch(const HttpRequest& request, const HttpRespond& respond) {
  try {
    if (!operator_methods(request.path).empty()) return respond(operate(request));
    if (request.path == kLintPath) return respond(parts_.scripts.lint(request));
    if (request.method == "POST") return submit(request, respond);
    respond(read(request));
  } catch (const std::exception&) {
    respond(plain_error(500, "this request could not be handled"));
  }
}

void Routes::submit(const HttpRequest& request, const HttpRespond& respond) {
  if (parts_.stopping) return respond(plain_error(503, "the server is stopping"));
  auto decoded = read_submission(request);
  if (auto* refusal = std::get_if<HttpResponse>(&decoded)) return respond(std::move(*refusal));
  SubmissionFields fields = std::get<SubmissionFields>(std::move(decoded));
  if (const auto key = request.headers.find("idempotency-key"); key != request.headers.end())
    fields.idempotency_key = key->second;
  parts_.admission.submit(std::move(fields), [respond](const AdmissionAnswer& answer) {
    respond(admission_answer(answer));
  });
}

HttpResponse Routes::operate(const HttpRequest& request) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads && parts_.stopping) return plain_error(503, "the server is stopping");
  return parts_.operators.answer(request);
}

HttpResponse Routes::read(const HttpRequest& request) {
  if (request.path == "/readyz") return ready();
  if (request.path == "/queue/data") return queue();
  if (const auto path = execution_path(request.path))
    return path->second.empty() ? execution(request, path->first) : logs(request, path->first);
  return executions(request);
}

HttpResponse Routes::execution(const HttpRequest& request, ExecutionId id) {
  const auto query = parse_query(request);
  if (!query) return plain_error(400, "the query has a malformed escape");
  const auto found = parts_.observatory.execution(id);
  if (!found) return store_error(found.error());
  if (!*found) return plain_error(404, "there is no execution " + std::to_string(id.value));
  std::optional<ExecutionText> text;
  if (value_of(*query, "source") == "1") {
    auto read_text = parts_.view.text(id);
    if (!read_text) return store_error(read_text.error());
    text = *std::move(read_text);
  }
  return json_answer(200, execution_json(**found, text));
}

HttpResponse Routes::logs(const HttpRequest& request, ExecutionId id) {
  const auto query = parse_query(request);
  if (!query) return plain_error(400, "the query has a malformed escape");
  const auto after = number_of(*query, "after", 0, 0);
  if (const auto* error = std::get_if<FieldError>(&after)) return field_error(*error);
  const auto found = parts_.view.execution(id);
  if (!found) return store_error(found.error());
  if (!*found) return plain_error(404, "there is no execution " + std::to_string(id.value));
  const LogId from{std::get<std::int64_t>(after)};
  const auto lines = parts_.view.logs(id, from, limits::kMaxListed);
  if (!lines) return store_error(lines.error());
  return json_answer(200, logs_json(*lines, from));
}

HttpResponse Routes::executions(const HttpRequest& request) {
  const auto query = parse_query(request);
  if (!query) return plain_error(400, "the query has a malformed escape");
  ExecutionFilter filter;
  if (const std::string account = value_of(*query, "account"); !account.empty()) {
    const auto normal = normal_account(account);
    if (!normal) return field_error({"account", "account must be a subdomain"});
    filter.account = parts_.secrets.account_id(*normal);
  }
  if (const std::string state = value_of(*query, "state"); !state.empty()) {
    filter.state = state_from_text(state);
    if (!filter.state) return field_error({"state", "there is no such state"});
  }
  const auto before = number_of(*query, "before", 1, 0);
  if (const auto* error = std::get_if<FieldError>(&before)) return field_error(*error);
  if (const std::int64_t id = std::get<std::int64_t>(before); id > 0) filter.before = {id};
  const auto limit = number_of(*query, "limit", 1, limits::kDefaultListed);
  if (const auto* error = std::get_if<FieldError>(&limit)) return field_error(*error);
  filter.limit =
      static_cast<int>(std::min<std::int64_t>(std::get<std::int64_t>(limit), limits::kMaxListed));
  const auto found = parts_.observatory.executions(filter);
  if (!found) return store_error(found.error());
  return json_answer(200, executions_json(*found, filter.limit));
}

HttpResponse Routes::queue() {
  const auto report = parts_.observatory.queue();
  if (!report) return store_error(report.error());
  return json_answer(200, queue_json(*report, parts_.executor()));
}

HttpResponse Routes::ready() const {
  const std::vector<std::string> reasons = parts_.readiness.reasons();
  return json_answer(reasons.empty() ? 200 : 503, ready_json(reasons));
}

HttpResponse answer_without_store(const HttpRequest& request, const std::string& why) {
  if (request.path == "/healthz") return json_answer(200, kAlive);
  const std::string reason = "the store could not be opened yet: " + why;
  if (request.path == "/readyz") return json_answer(503, ready_json({reason}));
  return plain_error(503, reason);
}

}  // namespace coderunner::app
