// The rate gate: "do not start work for this key before T" (brief 8, contract sections 5 and 7,
// rulings 12). T = now + retry_after + margin, clamped to gate.max, and only ever extended. Pure;
// written by the broker, read by the plan, kept by a GateStore.
#pragma once

#include <optional>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"
#include "domain/limits.h"

namespace coderunner {

struct GatePolicy {
  Millis margin = limits::kGateMargin;
  Millis max = limits::kGateMax;
  Millis minute = limits::kGateMinute;
};

struct Gate {
  ApiKeyHash key;
  UtcTime until;
  UtcTime first_seen;          // when this closure began
  UtcTime last_seen;           // when the last 429 was met
  std::optional<Millis> hint;  // what the last 429 asked for
  int status = 429;            // the answer that closed it; 0: an operator or a quota header
  friend bool operator==(const Gate&, const Gate&) = default;
};

struct RetryHint {
  Millis wait{0};        // always within [1 s, gate.max]
  bool clamped = false;  // asked for more than gate.max: the run ends 301 whatever the number
};

// From a 429: the header's text and the body's `error.details.retry_after`, either of which may be
// absent. Delta seconds: 0 -> 1 s, a fraction is rounded up, negative or malformed -> 60 s (one
// minute window), both -> the larger, beyond max -> max and clamped. `minute` scales the default
// for demos and compressed replays.
RetryHint retry_hint(std::optional<std::string_view> header, std::optional<double> body,
                     const GatePolicy& policy);

UtcTime gate_until(UtcTime now, Millis retry_after, const GatePolicy& policy);

// The later of what stands and what is new; first_seen survives while the gate has not opened in
// between.
Gate extend(const std::optional<Gate>& standing, const Gate& seen, UtcTime now);

}  // namespace coderunner
