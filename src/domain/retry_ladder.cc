#include "domain/retry_ladder.h"

#include <fmt/format.h>

namespace coderunner {
namespace {

LadderMove wait_or_raise(Millis wait, int attempt, Millis to_wall, const LadderPolicy& policy,
                         std::string_view what) {
  if (attempt >= policy.max_attempts)
    return Raise{fmt::format("{} after {} attempts", what, attempt)};
  if (wait >= to_wall)
    return Raise{
        fmt::format("{}: waiting {} does not fit before the wall", what, format_duration(wait))};
  return WaitThenResend{wait};
}

LadderStep rate_limited(const AttemptAnswer& answer, int attempt, Millis to_wall,
                        const LadderPolicy& policy) {
  const RetryHint hint = answer.hint.value_or(retry_hint({}, policy.gate));
  if (hint.clamped || hint.wait >= policy.long_retry_after)
    return {Raise{fmt::format("rate limited for {}", format_duration(hint.wait))}, hint.wait};
  return {wait_or_raise(hint.wait + policy.gate.margin, attempt, to_wall, policy, "rate limited"),
          hint.wait};
}

LadderStep no_good_answer(const AttemptAnswer& answer, int attempt, const LadderPolicy& policy) {
  const std::string what =
      answer.status ? fmt::format("API answered {}", *answer.status) : "no answer from the API";
  if (!answer.is_get && answer.never_sent)
    return {Raise{"no connection to the API; nothing was sent"}, {}};
  if (!answer.is_get) return {Raise{what + "; not re-sent, the effect may have happened"}, {}};
  if (attempt >= policy.max_attempts)
    return {Raise{fmt::format("{} after {} attempts", what, attempt)}, {}};
  return {WaitThenResend{Millis{0}}, {}};
}

}  // namespace

LadderStep next_step(const AttemptAnswer& answer, int attempt, Millis to_wall,
                     const LadderPolicy& policy) {
  if (!answer.status || *answer.status >= 500) return no_good_answer(answer, attempt, policy);
  if (*answer.status == 429) return rate_limited(answer, attempt, to_wall, policy);
  if (answer.method_limit)
    return {wait_or_raise(policy.method_limit_wait, attempt, to_wall, policy,
                          "API limit reached for this method"),
            {}};
  if (*answer.status >= 400) return {Raise{fmt::format("API answered {}", *answer.status)}, {}};
  return {Deliver{}, {}};
}

bool says_method_limit(int status, std::string_view body) {
  return status == 401 && body.find("API limit reached for this method") != std::string_view::npos;
}

}  // namespace coderunner
