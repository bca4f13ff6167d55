// What the broker does with one answer of one attempt (contract section 7, brief 10, rulings 13 and
// 14). Pure: the attempt number is an argument, never a counter on something long-lived.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/time.h"
#include "domain/limits.h"
#include "domain/rate_gate.h"
#include "domain/retry_hint.h"

namespace coderunner {

struct LadderPolicy {
  int max_attempts = limits::kApiMaxAttempts;
  Millis method_limit_wait = limits::kMethodLimitWait;
  Millis long_retry_after = limits::kLongRetryAfter;
  GatePolicy gate;
};

struct AttemptAnswer {
  bool is_get = true;
  std::optional<int> status;      // absent: timeout, reset, refused; the effect may have happened
  std::optional<RetryHint> hint;  // of a 429
  bool method_limit = false;      // 401 "API limit reached for this method"
  bool never_sent = false;        // no connection: the effect can not have happened
};

struct Deliver {};  // hand the answer to the script
struct Raise {      // raise an API error to the script
  std::string reason;
};
struct WaitThenResend {
  Millis wait{0};
};
using LadderMove = std::variant<Deliver, Raise, WaitThenResend>;

struct LadderStep {
  LadderMove move;
  std::optional<Millis> close_gate_for;  // gate the key: retry_after, without the margin
};

// `attempt` counts from 1; `to_wall` is what is left of the run: a wait that cannot fit is not
// begun.
LadderStep next_step(const AttemptAnswer& answer, int attempt, Millis to_wall,
                     const LadderPolicy& policy);

// True for the old API's "API limit reached for this method", which must be told from a bad key by
// its text (facts 1.6).
bool says_method_limit(int status, std::string_view body);

}  // namespace coderunner
