#include "fake/api.h"

#include <algorithm>
#include <utility>

#include "domain/limits.h"
#include "fake/routes.h"

namespace coderunner::fake {
namespace {

constexpr std::string_view kBase = "/api/v2";
constexpr std::string_view kVersion = "10.0.0";

// An account becomes part of a host name; here it is part of the path.
bool is_account(std::string_view name) {
  return !name.empty() && name.size() <= limits::kMaxAccountBytes &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

// nullopt: not JSON, or nested deeper than anything real.
std::optional<Json> parse_body(const std::string& text) {
  if (text.empty()) return Json{};
  bool too_deep = false;
  const auto watch = [&](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > limits::kMaxFakeBodyDepth;
    return !too_deep;
  };
  Json body = Json::parse(text, watch, /*allow_exceptions=*/false);
  if (too_deep || body.is_discarded()) return std::nullopt;
  return body;
}

bool has_effect(const HttpRequest& request, const Reply& reply) {
  return request.method != "GET" && reply.status < 300;
}

}  // namespace

Api::Api(ApiOptions options)
    : options_(options),
      quota_(options.quota),
      // Only its hour counts: a minute as long as the quota's with no limit of its own.
      method_quota_({.per_minute = options.v1_limit.value_or(0),
                     .per_hour = options.v1_limit.value_or(0),
                     .minute = options.quota.minute}),
      engine_(options.seed) {}

HttpResponse Api::answer(const HttpRequest& request, UtcTime now) {
  if (request.path.starts_with("/_")) return answer_control(request);
  const auto address = address_of(request.path);
  if (!address)
    return to_response(error_reply({.status = 404,
                                    .code = "RNFD",
                                    .message = "The API is at /{account}/api/v2.",
                                    .reference = "GE-RNFD"}));
  ledger_.count_call();
  return answer_call(request, *address, now);
}

HttpResponse Api::answer_control(const HttpRequest& request) {
  HttpResponse response;
  response.headers = {{"Content-Type", "application/json"}};
  if (request.path == "/_reset" && request.method == "POST")
    ledger_ = {};
  else if (request.path != "/_ledger" || request.method != "GET")
    return to_response(error_reply({.status = 404,
                                    .code = "RNFD",
                                    .message = "There is GET /_ledger and POST /_reset.",
                                    .reference = "GE-RNFD"}));
  response.body = ledger_.to_json();
  return response;
}

HttpResponse Api::answer_call(const HttpRequest& request, const Address& address, UtcTime now) {
  const std::string key{request.header("apikey")};
  HttpResponse response;
  QuotaVerdict verdict;
  if (key.empty()) {
    response = key_missing();
    verdict.minute_remaining = options_.quota.per_minute;
    verdict.hour_remaining = options_.quota.per_hour;
  } else {
    verdict = quota_.charge(key, now);
    if (verdict.limited) {
      ledger_.count_limited();
      response = rate_limited({verdict.until_open, now, options_.retry_after});
    } else {
      response = answer_charged(request, address, now);
    }
  }
  add_quota_headers(response, verdict);
  return response;
}

HttpResponse Api::answer_charged(const HttpRequest& request, const Address& address, UtcTime now) {
  const Luck luck = draw();
  HttpResponse response;
  response.drop_connection = luck.resets_before || luck.resets_after;
  if (luck.resets_before) return response;
  if (luck.fails) {
    response.status = 500;
    return response;
  }
  const auto found = find_route(request.method, address.path);
  if (found.route != nullptr && options_.v1_limit &&
      over_method_limit(std::string{request.header("apikey")},
                        std::string{found.route->method} + " " + std::string{found.route->pattern},
                        now))
    return method_limited();
  HttpResponse answered = to_response(run(request, address, now));
  answered.drop_connection = luck.resets_after;
  return answered;
}

Reply Api::run(const HttpRequest& request, const Address& address, UtcTime now) {
  auto found = find_route(request.method, address.path);
  if (found.route == nullptr) return std::move(found.refusal);
  auto query = parse_form(request.query);
  if (!query) return invalid_field("query", "The query is malformed.");
  Call call{.method = request.method,
            .path = address.path,
            .ids = std::move(found.ids),
            .query = *std::move(query),
            .now = now,
            .per_minute = options_.quota.per_minute,
            .per_hour = options_.quota.per_hour};
  if (request.method != "GET") {
    auto body = parse_body(request.body);
    if (!body || (!body->is_null() && !body->is_object()))
      return invalid_field("body", "The body must be a JSON object.");
    call.body = *std::move(body);
  }
  Reply reply = found.route->endpoint(account(address.account), call);
  if (has_effect(request, reply))
    ledger_.record({now, address.account, request.method, address.path, std::move(call.body)},
                   request.body.size());
  return reply;
}

bool Api::over_method_limit(const std::string& key, std::string endpoint, UtcTime now) {
  return method_quota_.charge(std::move(endpoint) + "\n" + key, now).limited;
}

void Api::add_quota_headers(HttpResponse& response, const QuotaVerdict& verdict) const {
  const auto add = [&](const char* name, int value) {
    response.headers.emplace_back(name, std::to_string(value));
  };
  add("X-RateLimit-PerHour-Limit", options_.quota.per_hour);
  add("X-RateLimit-PerHour-Remaining", verdict.hour_remaining);
  add("X-RateLimit-PerMinute-Limit", options_.quota.per_minute);
  add("X-RateLimit-PerMinute-Remaining", verdict.minute_remaining);
  response.headers.emplace_back("X-Kanbanize-Version", kVersion);
}

Account& Api::account(const std::string& name) {
  const auto known = accounts_.find(name);
  if (known != accounts_.end()) return known->second;
  if (accounts_.size() >= limits::kMaxFakeAccounts) accounts_.erase(accounts_.begin());
  return accounts_.emplace(name, Account{name}).first->second;
}

// "/{account}/api/v2/…", the account and the rest.
std::optional<Api::Address> Api::address_of(const std::string& path) {
  const std::size_t end = path.find('/', 1);
  if (end == std::string::npos || path.compare(end, kBase.size(), kBase) != 0) return std::nullopt;
  Address address{path.substr(1, end - 1), path.substr(end + kBase.size())};
  if (!is_account(address.account) || !address.path.starts_with('/')) return std::nullopt;
  return address;
}

Api::Luck Api::draw() {
  // Three numbers a call whatever the rates, so that one rate does not shift another's luck.
  std::uniform_real_distribution<double> unit{0.0, 1.0};
  const double reset = unit(engine_), side = unit(engine_), failure = unit(engine_);
  Luck luck;
  if (reset < options_.reset_rate) (side < 0.5 ? luck.resets_before : luck.resets_after) = true;
  luck.fails = failure < options_.fail_rate;
  return luck;
}

}  // namespace coderunner::fake
