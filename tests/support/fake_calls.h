// Calls to the fake API as a function, without a server, for its own tests.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "fake/api.h"

namespace coderunner::fake::testing_calls {

using namespace std::chrono_literals;

inline const UtcTime kMinuteStart = *from_rfc3339("2026-08-24T12:08:00.000Z");
inline const UtcTime kNow = kMinuteStart + 12s + 345ms;

struct Sent {
  std::string method, path;
  std::string body = {};
  std::string key = "key-1";
  std::string account = "acme";
};

inline HttpResponse ask(Api& api, const Sent& sent, UtcTime now = kNow) {
  HttpRequest request;
  request.method = sent.method;
  const std::size_t mark = sent.path.find('?');
  request.path = "/" + sent.account + "/api/v2" + sent.path.substr(0, mark);
  if (mark != std::string::npos) request.query = sent.path.substr(mark + 1);
  if (!sent.key.empty()) request.headers["apikey"] = sent.key;
  request.body = sent.body;
  return api.answer(request, now);
}

inline HttpResponse control(Api& api, const std::string& method, const std::string& path) {
  HttpRequest request;
  request.method = method;
  request.path = path;
  return api.answer(request, kNow);
}

inline Json body_of(const HttpResponse& response) { return Json::parse(response.body); }
inline Json ledger_of(Api& api) { return body_of(control(api, "GET", "/_ledger")); }

// The answer's "data", null where it has none.
inline Json data_of(Api& api, const Sent& sent, UtcTime now = kNow) {
  const HttpResponse answered = ask(api, sent, now);
  return answered.body.empty() ? Json{} : body_of(answered).value("data", Json{});
}

// "400 VE02 title": the status, the code and the first name in the details of a refusal.
inline std::string refusal_of(Api& api, const Sent& sent) {
  const HttpResponse answered = ask(api, sent);
  if (answered.status < 400) return std::to_string(answered.status);
  const Json error = body_of(answered)["error"];
  std::string text = std::to_string(answered.status) + " " + error["code"].get<std::string>();
  if (!error["details"].empty()) text += " " + error["details"].items().begin().key();
  return text;
}

inline std::string header(const HttpResponse& response, std::string_view name) {
  for (const auto& [key, value] : response.headers)
    if (key == name) return value;
  return {};
}

inline ApiOptions generous() {
  ApiOptions options;
  options.quota.per_minute = options.quota.per_hour = 1'000'000;
  return options;
}

}  // namespace coderunner::fake::testing_calls
