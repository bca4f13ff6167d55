#include "app/operator_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>
#include <variant>

#include "app/answers.h"
#include "app/request_parts.h"
#include "domain/limits.h"

namespace coderunner::app {
namespace {

// Whoever reaches the server is the operator, until there are tokens.
constexpr const char* kActor = "loopback";

constexpr std::string_view kExecutions = "/executions/";
constexpr std::string_view kCancel = "/cancel";
constexpr std::string_view kCancelQueued = "/executions/cancel";
constexpr std::string_view kPause = "/queue/pause";
constexpr std::string_view kResume = "/queue/resume";
constexpr std::string_view kAccounts = "/accounts/";
constexpr std::string_view kGates = "/gates";
constexpr std::string_view kOneGate = "/gates/";
constexpr std::size_t kKeyHashDigits = 64;

// {id} of "/executions/{id}/cancel".
std::optional<ExecutionId> cancelled_at(std::string_view path) {
  if (!path.starts_with(kExecutions) || !path.ends_with(kCancel)) return std::nullopt;
  path.remove_prefix(kExecutions.size());
  if (path.size() <= kCancel.size()) return std::nullopt;
  path.remove_suffix(kCancel.size());
  const auto id = whole_number(path);
  return id ? std::optional{ExecutionId{*id}} : std::nullopt;
}

// What follows `prefix`, where it is one more part of the path.
std::string_view last_part(std::string_view path, std::string_view prefix) {
  if (!path.starts_with(prefix)) return {};
  path.remove_prefix(prefix.size());
  return path.find('/') == std::string_view::npos ? path : std::string_view{};
}

// Nothing sent is an object without members.
std::variant<Json, HttpResponse> body_of(const HttpRequest& request) {
  if (!request.query.empty())
    return plain_error(400, "no query is taken here: send what you mean as JSON");
  if (request.body.empty() || request.body == "null") return Json::object();
  const std::string type = media_type(request);
  if (type != kJsonType && !type.empty()) return plain_error(415, "send application/json");
  auto body = json_object(request.body);
  if (!body) return plain_error(400, body.error().message);
  return *std::move(body);
}

// Where it would make the act a larger one than was meant ("acount", "dryRun"), what nobody knows
// is not ignored.
std::optional<FieldError> unknown_member(const Json& body,
                                         std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : body.items())
    if (std::ranges::find(known, name) == known.end())
      return FieldError{
          name, name + " is unknown; known here: " + fmt::to_string(fmt::join(known, ", "))};
  return std::nullopt;
}

std::variant<std::string, FieldError> account_of(std::string text) {
  auto normal = normal_account(std::move(text));
  if (!normal) return FieldError{"account", "account must be a subdomain"};
  return *std::move(normal);
}

// A whole number from `least` to `most`.
std::variant<std::int64_t, FieldError> number_in(const Json& body, const char* name,
                                                 std::int64_t least, std::int64_t most) {
  const std::string range = most == std::numeric_limits<std::int64_t>::max()
                                ? "from " + std::to_string(least)
                                : std::to_string(least) + " to " + std::to_string(most);
  const FieldError wrong{name, std::string{name} + " must be a whole number " + range};
  const auto found = body.find(name);
  if (found == body.end() || !found->is_number_unsigned()) return wrong;
  const auto value = found->get<std::uint64_t>();
  if (value < static_cast<std::uint64_t>(least) || value > static_cast<std::uint64_t>(most))
    return wrong;
  return static_cast<std::int64_t>(value);
}

bool is_key_hash(std::string_view text) {
  return text.size() == kKeyHashDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// Whole seconds as such: an API asks for nothing finer, a test's scaled minute may.
Json seconds_or_null(const std::optional<Millis>& wait) {
  if (!wait) return nullptr;
  if (wait->count() % 1000 == 0) return wait->count() / 1000;
  return static_cast<double>(wait->count()) / 1000;
}

Json gate_object(const GateReport& report) {
  return {{"key", report.gate.key.value},
          {"until", to_rfc3339(report.gate.until)},
          {"status", report.gate.status},
          {"hint_s", seconds_or_null(report.gate.hint)},
          {"seen_at", to_rfc3339(report.gate.last_seen)},
          {"queued", report.queued}};
}

HttpResponse account_answer(const std::string& account, const Result<AccountState>& state) {
  if (!state) return store_error(state.error());
  const Json cap = state->per_account ? Json(*state->per_account) : Json(nullptr);
  return json_answer(200, Json{{"account", account},
                               {"per_account", cap},
                               {"queued", state->queued},
                               {"in_flight", state->in_flight},
                               {"paused", state->paused}}
                              .dump());
}

}  // namespace

std::string_view operator_methods(std::string_view path) {
  if (path == kCancelQueued || path == kPause || path == kResume || cancelled_at(path))
    return "POST";
  if (path == kGates) return "GET, HEAD";
  if (!last_part(path, kAccounts).empty()) return "GET, HEAD, PUT";
  if (!last_part(path, kOneGate).empty()) return "PUT, DELETE";
  return {};
}

HttpResponse OperatorRoutes::answer(const HttpRequest& request) {
  const std::string_view path = request.path;
  if (const auto id = cancelled_at(path)) return cancel(*id);
  if (path == kCancelQueued) return cancel_queued(request);
  if (path == kPause || path == kResume) return pause(request);
  if (path == kGates) return gates();
  return path.starts_with(kAccounts) ? account(request) : gate(request);
}

HttpResponse OperatorRoutes::cancel(ExecutionId id) {
  const auto answer = parts_.control.cancel(kActor, id);
  if (!answer) return store_error(answer.error());
  const std::string named = "execution " + std::to_string(id.value);
  if (*answer == CancelAnswer::unknown) return plain_error(404, "there is no " + named);
  const auto found = parts_.observatory.execution(id);
  if (!found) return store_error(found.error());
  if (!*found) return plain_error(404, "there is no " + named);
  if (*answer == CancelAnswer::cancelled) return json_answer(200, execution_json(**found, {}));
  const std::string state{to_text((*found)->execution.state())};
  return plain_error(409, named + " is " + state + ": only a queued one can be cancelled");
}

HttpResponse OperatorRoutes::cancel_queued(const HttpRequest& request) {
  auto body = body_of(request);
  if (auto* error = std::get_if<HttpResponse>(&body)) return std::move(*error);
  const Json& json = std::get<Json>(body);
  std::optional<std::string> text, state;
  bool dry_run = false;
  if (const auto error = unknown_member(json, {"account", "state", "dry_run"}))
    return field_error(*error);
  if (const auto error = take_text(json, "account", text)) return field_error(*error);
  if (const auto error = take_text(json, "state", state)) return field_error(*error);
  if (const auto error = take_flag(json, "dry_run", dry_run)) return field_error(*error);
  const auto account = account_of(text.value_or(""));
  if (const auto* error = std::get_if<FieldError>(&account)) return field_error(*error);
  if (state != "queued")
    return field_error({"state", "state must be queued: nothing else can be cancelled"});
  const std::string& name = std::get<std::string>(account);
  if (!dry_run) {
    const auto cancelled = parts_.control.cancel_queued(kActor, name);
    if (!cancelled) return store_error(cancelled.error());
    return json_answer(200, Json{{"cancelled", *cancelled}}.dump());
  }
  const auto would_be = parts_.control.account(name);
  if (!would_be) return store_error(would_be.error());
  return json_answer(200, Json{{"cancelled", would_be->queued}}.dump());
}

HttpResponse OperatorRoutes::pause(const HttpRequest& request) {
  auto body = body_of(request);
  if (auto* error = std::get_if<HttpResponse>(&body)) return std::move(*error);
  std::optional<std::string> whom;
  const Json& json = std::get<Json>(body);
  if (!json.contains("account"))
    if (const auto error = unknown_member(json, {"account"})) return field_error(*error);
  if (const auto error = take_text(json, "account", whom)) return field_error(*error);
  if (whom) {
    auto account = account_of(*std::move(whom));
    if (const auto* error = std::get_if<FieldError>(&account)) return field_error(*error);
    whom = std::get<std::string>(std::move(account));
  }
  const auto report = request.path == kPause ? parts_.control.pause(kActor, whom)
                                             : parts_.control.resume(kActor, whom);
  if (!report) return store_error(report.error());
  return json_answer(200, Json{{"paused", report->paused},
                               {"account", whom ? Json(*whom) : Json(nullptr)},
                               {"in_flight", report->in_flight}}
                              .dump());
}

HttpResponse OperatorRoutes::account(const HttpRequest& request) {
  const auto account = account_of(std::string{last_part(request.path, kAccounts)});
  if (const auto* error = std::get_if<FieldError>(&account)) return field_error(*error);
  const std::string& name = std::get<std::string>(account);
  if (request.method != "PUT") return account_answer(name, parts_.control.account(name));

  auto body = body_of(request);
  if (auto* error = std::get_if<HttpResponse>(&body)) return std::move(*error);
  const Json& json = std::get<Json>(body);
  const auto found = json.find("per_account");
  if (found != json.end() && found->is_null())
    return account_answer(name, parts_.control.set_per_account(kActor, name, std::nullopt));
  const auto cap = number_in(json, "per_account", 1, limits::kMaxConcurrency);
  if (const auto* error = std::get_if<FieldError>(&cap))
    return field_error({error->field, error->message + ", or null for the default"});
  const auto number = static_cast<int>(std::get<std::int64_t>(cap));
  return account_answer(name, parts_.control.set_per_account(kActor, name, number));
}

HttpResponse OperatorRoutes::gates() {
  const auto reports = parts_.control.gates();
  if (!reports) return store_error(reports.error());
  Json list = Json::array();
  for (const GateReport& report : *reports) list.push_back(gate_object(report));
  return json_answer(200, Json{{"gates", std::move(list)}}.dump());
}

HttpResponse OperatorRoutes::gate(const HttpRequest& request) {
  const std::string_view text = last_part(request.path, kOneGate);
  if (!is_key_hash(text))
    return field_error({"keyhash", "a gate is named by its key's hash: 64 lower-case hex digits"});
  const ApiKeyHash key{std::string{text}};
  if (request.method == "DELETE") {
    const auto cleared = parts_.control.clear_gate(kActor, key);
    return cleared ? HttpResponse{.status = 204} : store_error(cleared.error());
  }
  auto body = body_of(request);
  if (auto* error = std::get_if<HttpResponse>(&body)) return std::move(*error);
  const auto length =
      number_in(std::get<Json>(body), "for_ms", 1, std::numeric_limits<std::int64_t>::max());
  if (const auto* error = std::get_if<FieldError>(&length)) return field_error(*error);
  const auto report = parts_.control.set_gate(kActor, key, Millis{std::get<std::int64_t>(length)});
  if (!report) return store_error(report.error());
  return json_answer(200, gate_object(*report).dump());
}

}  // namespace coderunner::app
