#include "domain/retry_hint.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/http_date.h"

namespace coderunner {
namespace {

using std::chrono::seconds;

constexpr double kSecondsBeyondAnyLimit =
    1e9;  // about 31 years: keeps the arithmetic below in range

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<double> delta_seconds(std::string_view text) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (error == std::errc::result_out_of_range) return kSecondsBeyondAnyLimit;
  if (error != std::errc{}) return std::nullopt;
  return value;
}

// A date counts from the answer's own Date: that both clocks agree is nowhere promised.
std::optional<double> seconds_to_date(std::string_view text, const LimitedAnswer& answer) {
  const auto at = from_http_date(text, answer.received);
  if (!at) return std::nullopt;
  UtcTime from = answer.received;
  if (answer.date)
    if (const auto sent = from_http_date(trimmed(*answer.date), answer.received)) from = *sent;
  return std::max(std::chrono::duration<double>{*at - from}.count(), 0.0);
}

std::optional<Millis> usable_wait(std::optional<double> asked) {
  if (!asked || !std::isfinite(*asked) || *asked < 0) return std::nullopt;
  const double whole = std::ceil(std::min(*asked, kSecondsBeyondAnyLimit));
  return std::max(seconds{1}, seconds{static_cast<std::int64_t>(whole)});
}

}  // namespace

RetryHint retry_hint(const LimitedAnswer& answer, const GatePolicy& policy) {
  std::optional<Millis> asked = usable_wait(answer.in_body);
  for (const std::string& header : answer.retry_after) {
    const std::string_view text = trimmed(header);
    auto wait = usable_wait(delta_seconds(text));
    if (!wait) wait = usable_wait(seconds_to_date(text, answer));
    asked = std::max(asked, wait);  // no value is less than any
  }
  if (!asked) asked = std::min(limits::kDefaultRetryAfter, policy.minute);
  return *asked > policy.max ? RetryHint{policy.max, true} : RetryHint{*asked, false};
}

}  // namespace coderunner
