// How long a 429 asks to be left alone (contract section 7, facts 1.3 and 3). Pure; asked by the
// broker and by the replay of traces.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "domain/rate_gate.h"

namespace coderunner {

struct RetryHint {
  Millis wait{0};        // always within [1 s, gate.max]
  bool clamped = false;  // asked for more than gate.max: the run ends 301 whatever the number
};

// What of a 429 says how long to wait.
struct LimitedAnswer {
  std::vector<std::string> retry_after;  // the text of each such header
  std::optional<std::string> date;       // of the Date header: takes its clock's error out
  std::optional<double> in_body;         // error.details.retry_after, seconds
  UtcTime received{};
};

// Delta seconds or an HTTP-date: 0 or a past date -> 1 s, a fraction is rounded up, negative or
// malformed -> 60 s (one minute window), several -> the largest, beyond max -> max and clamped.
// `minute` scales the default for demos and compressed replays.
RetryHint retry_hint(const LimitedAnswer& answer, const GatePolicy& policy);

}  // namespace coderunner
