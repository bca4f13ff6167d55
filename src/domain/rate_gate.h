// The rate gate: "do not start work for this key before T" (brief 8, contract sections 5 and 7,
// rulings 12). T = now + retry_after + margin, clamped to gate.max, and only ever extended. Pure;
// written by the broker, read by the plan, kept by a GateStore.
#pragma once

#include <optional>

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
  UtcTime first_seen;                 // when this closure began
  UtcTime last_seen;                  // when it was closed or extended last
  std::optional<Millis> hint;         // what the last 429 asked for
  int status = kRateLimited;          // the answer that closed it last, or kByOperator
  std::optional<UtcTime> limited_at;  // when the last 429 was met
  // The longest closure since a run begun in the open has ended: what opens with a herd behind it.
  Millis longest{0};
  static constexpr int kRateLimited = 429;
  static constexpr int kByOperator = 0;
  friend bool operator==(const Gate&, const Gate&) = default;
};

// A gate as it is kept: closed, or open for less than limits::kGateRemembered.
struct GateRecord {
  Gate gate;
  bool proved = false;  // a run of its key that began after it opened has ended
  friend bool operator==(const GateRecord&, const GateRecord&) = default;
};

UtcTime gate_until(UtcTime now, Millis retry_after, const GatePolicy& policy);

// The latest that a gate may say at `now`. One beyond it was written while a clock was ahead, or
// under a larger gate.max: it counts as open, and what closes it again begins anew.
UtcTime latest_gate(UtcTime now, const GatePolicy& policy);
bool is_closed(UtcTime until, UtcTime now, const GatePolicy& policy);

// The later of what stands and what is new, which gate.max clamps; first_seen survives while the
// gate has not opened in between, the last 429 where `seen` is none, and `longest` until it was
// proved.
Gate extend(const std::optional<GateRecord>& standing, const Gate& seen, UtcTime now,
            const GatePolicy& policy);

// The key met a 429, or used its minute up, within the last ten minutes (of `minute` each): it
// never gets the last free slot (rulings 25). Both make its runs wait inside their slots.
bool was_limited_lately(const Gate& gate, UtcTime now, const GatePolicy& policy);

// A gate of over two minutes has opened and no run has ended since: one run of the key at a time
// (rulings 11).
bool is_probing(const GateRecord& record, UtcTime now, const GatePolicy& policy);

// When the key's present minute ends, for an answer that says nothing is left of it: by the phase
// of the last 429's hint where that is less than an hour old, a minute from now otherwise.
UtcTime minute_end(const std::optional<Gate>& last, UtcTime now, const GatePolicy& policy);

}  // namespace coderunner
