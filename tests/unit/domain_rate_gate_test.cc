#include <gtest/gtest.h>

#include "domain/rate_gate.h"

namespace coderunner {
namespace {

using namespace std::chrono_literals;

constexpr UtcTime kNow = UtcTime{1'787'573'280'000ms};

Gate seen(Millis wait) {
  return {.key = {"k"}, .until = kNow + wait, .first_seen = kNow, .last_seen = kNow, .hint = wait};
}

GateRecord stands(const Gate& gate, bool proved = false) { return {gate, proved}; }

TEST(Gate, ClosesForTheHintAndTheMarginButNeverLongerThanItsMaximum) {
  const GatePolicy policy;
  EXPECT_EQ(gate_until(kNow, 10s, policy), kNow + 15s);
  EXPECT_EQ(gate_until(kNow, 24h, policy), kNow + 65min);
}

TEST(Gate, IsOnlyEverExtended) {
  EXPECT_EQ(extend(stands(seen(60s)), seen(5s), kNow, {}).until, kNow + 60s);
  EXPECT_EQ(extend(stands(seen(5s)), seen(60s), kNow, {}).until, kNow + 60s);
  EXPECT_EQ(extend(std::nullopt, seen(5s), kNow, {}).until, kNow + 5s);
}

TEST(Gate, RemembersWhenItsClosureBeganUntilItOpens) {
  Gate later = seen(60s);
  later.first_seen = later.last_seen = kNow + 10s;
  EXPECT_EQ(extend(stands(seen(30s)), later, kNow + 10s, {}).first_seen, kNow);
  EXPECT_EQ(extend(stands(seen(5s)), later, kNow + 10s, {}).first_seen, kNow + 10s);
}

TEST(Gate, KeepsTheLast429ThroughAClosureThatWasNone) {
  const Gate limited = extend(std::nullopt, seen(30s), kNow, {});
  EXPECT_EQ(limited.limited_at, kNow);
  Gate by_header = seen(5s);
  by_header.status = 200;
  by_header.hint.reset();
  by_header.first_seen = by_header.last_seen = kNow + 40s;
  const Gate after = extend(stands(limited), by_header, kNow + 40s, {});
  EXPECT_EQ(after.limited_at, kNow);
  EXPECT_EQ(after.hint, Millis{30s});
  EXPECT_EQ(after.status, 200);
  EXPECT_EQ(extend(std::nullopt, by_header, kNow, {}).limited_at, std::nullopt);
}

TEST(Gate, BeyondItsMaximumWasWrittenUnderAClockAheadAndIsOpen) {
  const GatePolicy policy{.max = 10min};
  const UtcTime latest = latest_gate(kNow, policy);
  EXPECT_EQ(latest, kNow + 10min + limits::kGateSlack);
  EXPECT_TRUE(is_closed(latest, kNow, policy));
  EXPECT_FALSE(is_closed(latest + 1ms, kNow, policy));
  EXPECT_TRUE(is_closed(kNow + 1ms, kNow, policy));
  EXPECT_FALSE(is_closed(kNow, kNow, policy));
}

TEST(Gate, OfAClockAheadLeavesNothingToTheNextOne) {
  Gate ahead = seen(60s);
  ahead.until = ahead.first_seen = ahead.last_seen = kNow + 365 * 24h;
  ahead.longest = 1h;
  EXPECT_EQ(extend(stands(ahead), seen(5s), kNow, {}), extend(std::nullopt, seen(5s), kNow, {}));
}

TEST(Gate, OfAClockAheadLimitsItsKeyNoLongerThanAnother) {
  Gate ahead = seen(60s);
  ahead.limited_at = kNow + 365 * 24h;
  EXPECT_FALSE(was_limited_lately(ahead, kNow, {}));
  ahead.limited_at = kNow + 1s;
  EXPECT_TRUE(was_limited_lately(ahead, kNow, {})) << "met since this tick began";
}

TEST(Gate, ThatAUsedUpMinuteClosedLimitsItsKeyToo) {
  Gate used_up = seen(30s);
  used_up.status = 200;
  used_up.hint.reset();
  const Gate gate = extend(std::nullopt, used_up, kNow, {});
  EXPECT_TRUE(was_limited_lately(gate, kNow + 10min - 1ms, {}));
  EXPECT_FALSE(was_limited_lately(gate, kNow + 10min, {}));
}

TEST(Gate, ThatAnOperatorClosedSaysNothingOfItsKeysLimits) {
  Gate by_hand = seen(30s);
  by_hand.status = Gate::kByOperator;
  EXPECT_FALSE(was_limited_lately(extend(std::nullopt, by_hand, kNow, {}), kNow + 1s, {}));
}

TEST(Gate, WasLimitedLatelyForTenMinutes) {
  const Gate gate = extend(std::nullopt, seen(30s), kNow, {});
  EXPECT_TRUE(was_limited_lately(gate, kNow + 10min - 1ms, {}));
  EXPECT_FALSE(was_limited_lately(gate, kNow + 10min, {}));
  EXPECT_FALSE(was_limited_lately(gate, kNow + 10s, {.minute = 1s})) << "scaled with the minute";
}

TEST(Gate, ThatWasClosedForOverTwoMinutesIsProbedUntilARunHasEnded) {
  const Gate hour = extend(std::nullopt, seen(1h), kNow, {});
  EXPECT_FALSE(is_probing(stands(hour), kNow + 1min, {})) << "still closed";
  EXPECT_TRUE(is_probing(stands(hour), kNow + 1h, {}));
  EXPECT_FALSE(is_probing(stands(hour, true), kNow + 1h, {}));
  const Gate short_one = extend(std::nullopt, seen(2min), kNow, {});
  EXPECT_FALSE(is_probing(stands(short_one), kNow + 1h, {}));
}

TEST(Gate, ThatClosesAgainBeforeItsProofIsStillProbed) {
  const Gate hour = extend(std::nullopt, seen(1h), kNow, {});
  Gate again = seen(1h + 20s);
  again.first_seen = again.last_seen = kNow + 1h + 5s;
  EXPECT_TRUE(is_probing(stands(extend(stands(hour), again, kNow + 1h + 5s, {})), kNow + 2h, {}));
  EXPECT_FALSE(
      is_probing(stands(extend(stands(hour, true), again, kNow + 1h + 5s, {})), kNow + 2h, {}));
}

TEST(MinuteEnd, FollowsThePhaseOfTheLast429WithinTheHour) {
  const Gate gate = extend(std::nullopt, seen(20s), kNow, {});  // a window ends at kNow + 20 s
  EXPECT_EQ(minute_end(gate, kNow + 30s, {}), kNow + 80s);
  EXPECT_EQ(minute_end(gate, kNow + 5s, {}), kNow + 20s);
  EXPECT_EQ(minute_end(gate, kNow + 20s, {}), kNow + 80s);
  EXPECT_EQ(minute_end(gate, kNow + 59min, {}), kNow + 59min + 20s);
  EXPECT_EQ(minute_end(gate, kNow + 61min, {}), kNow + 62min) << "too old to say";
  EXPECT_EQ(minute_end(std::nullopt, kNow, {}), kNow + 1min);
  EXPECT_EQ(minute_end(gate, kNow - 1min, {}), kNow) << "the clock was set back";
}

}  // namespace
}  // namespace coderunner
