#include "fake/refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

namespace coderunner::fake {
namespace {

constexpr std::int64_t kHugeSeconds = 999'999'999;  // thirty years: nobody may wait that long
constexpr std::int64_t kNegativeSeconds = -5;
constexpr std::string_view kEdgePage =
    "<html><head><title>429 Too Many Requests</title></head>"
    "<body><h1>Too Many Requests</h1></body></html>\n";

struct Hints {
  std::optional<std::string> header;
  std::optional<std::int64_t> body;
};

Hints hints_of(const RateLimited& limited) {
  const std::int64_t seconds = std::max<std::int64_t>(
      1, std::chrono::ceil<std::chrono::seconds>(limited.until_open).count());
  const auto both = [](std::int64_t value) { return Hints{std::to_string(value), value}; };
  switch (limited.form) {
    case RetryAfterForm::header: return {std::to_string(seconds), std::nullopt};
    case RetryAfterForm::body: return {std::nullopt, seconds};
    case RetryAfterForm::both: return both(seconds);
    case RetryAfterForm::neither: return {};
    case RetryAfterForm::date: {
      // The date names a second and must not lie before the window's end.
      const UtcTime end = limited.now + limited.until_open;
      return {to_http_date(std::chrono::ceil<std::chrono::seconds>(end)), std::nullopt};
    }
    case RetryAfterForm::zero: return both(0);
    case RetryAfterForm::negative: return both(kNegativeSeconds);
    case RetryAfterForm::huge: return both(kHugeSeconds);
    case RetryAfterForm::html: return {};
  }
  return {};
}

}  // namespace

std::optional<RetryAfterForm> retry_after_form(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, RetryAfterForm>, 9> kForms{
      {{"header", RetryAfterForm::header},
       {"body", RetryAfterForm::body},
       {"both", RetryAfterForm::both},
       {"neither", RetryAfterForm::neither},
       {"date", RetryAfterForm::date},
       {"zero", RetryAfterForm::zero},
       {"negative", RetryAfterForm::negative},
       {"huge", RetryAfterForm::huge},
       {"html", RetryAfterForm::html}}};
  for (const auto& [word, form] : kForms)
    if (word == name) return form;
  return std::nullopt;
}

HttpResponse rate_limited(const RateLimited& limited) {
  const Hints hints = hints_of(limited);
  Json details = Json::object();
  if (hints.body) details["retry_after"] = *hints.body;
  HttpResponse response = to_response(
      error_reply({.status = 429,
                   .code = "RL02",
                   .message = "You have exceeded the number of requests allowed for your API key.",
                   .reference = "GE-RL02",
                   .details = std::move(details)}));
  if (hints.header) response.headers.emplace_back("Retry-After", *hints.header);
  if (limited.form == RetryAfterForm::html) {
    response.headers = {{"Content-Type", "text/html"}};
    response.body = kEdgePage;
  }
  return response;
}

HttpResponse method_limited() {
  Reply reply;
  reply.status = 401;
  reply.body = {{"status", false}, {"error", "API limit reached for this method"}};
  return to_response(reply);
}

HttpResponse key_missing() {
  return to_response(error_reply({.status = 401,
                                  .code = "AU01",
                                  .message = "The apikey header is missing.",
                                  .reference = "GE-AU01"}));
}

}  // namespace coderunner::fake
