#include <gtest/gtest.h>

#include "domain/rate_gate.h"

namespace coderunner {
namespace {

using namespace std::chrono_literals;

constexpr UtcTime kNow = UtcTime{1'787'573'280'000ms};

Gate seen(Millis wait) {
  return {.key = {"k"}, .until = kNow + wait, .first_seen = kNow, .last_seen = kNow, .hint = wait};
}

TEST(RetryHint, TakesDeltaSecondsFromHeaderOrBodyAndTheLargerOfBoth) {
  const GatePolicy policy;
  EXPECT_EQ(retry_hint("10", {}, policy).wait, 10s);
  EXPECT_EQ(retry_hint({}, 12.0, policy).wait, 12s);
  EXPECT_EQ(retry_hint("10", 12.0, policy).wait, 12s);
  EXPECT_EQ(retry_hint(" 10 ", 2.0, policy).wait, 10s);
}

TEST(RetryHint, RoundsUpAndNeverBelowASecond) {
  const GatePolicy policy;
  EXPECT_EQ(retry_hint("0", {}, policy).wait, 1s);
  EXPECT_EQ(retry_hint("1.2", {}, policy).wait, 2s);
  EXPECT_EQ(retry_hint({}, 0.1, policy).wait, 1s);
}

TEST(RetryHint, FallsBackToOneMinuteWhereNothingUsableIsSaid) {
  const GatePolicy policy;
  EXPECT_EQ(retry_hint({}, {}, policy).wait, 60s);
  for (const char* text : {"", "-5", "soon", "10s", "1e3", "0x10", "+5", "nan", "inf"})
    EXPECT_EQ(retry_hint(text, {}, policy).wait, 60s) << text;
  EXPECT_EQ(retry_hint({}, -1.0, policy).wait, 60s);
  EXPECT_EQ(retry_hint({}, {}, {.minute = 3s}).wait, 3s);
}

TEST(RetryHint, IsClampedAndSaysSo) {
  const GatePolicy policy;
  EXPECT_EQ(retry_hint("86400", {}, policy).wait, policy.max);
  EXPECT_TRUE(retry_hint("86400", {}, policy).clamped);
  EXPECT_TRUE(retry_hint(std::string(400, '9'), {}, policy).clamped);
  EXPECT_FALSE(retry_hint("3600", {}, policy).clamped);
}

TEST(Gate, ClosesForTheHintAndTheMarginButNeverLongerThanItsMaximum) {
  const GatePolicy policy;
  EXPECT_EQ(gate_until(kNow, 10s, policy), kNow + 15s);
  EXPECT_EQ(gate_until(kNow, 24h, policy), kNow + 65min);
}

TEST(Gate, IsOnlyEverExtended) {
  EXPECT_EQ(extend(seen(60s), seen(5s), kNow).until, kNow + 60s);
  EXPECT_EQ(extend(seen(5s), seen(60s), kNow).until, kNow + 60s);
  EXPECT_EQ(extend(std::nullopt, seen(5s), kNow).until, kNow + 5s);
}

TEST(Gate, RemembersWhenItsClosureBeganUntilItOpens) {
  Gate later = seen(60s);
  later.first_seen = later.last_seen = kNow + 10s;
  EXPECT_EQ(extend(seen(30s), later, kNow + 10s).first_seen, kNow);
  EXPECT_EQ(extend(seen(5s), later, kNow + 10s).first_seen, kNow + 10s);
}

}  // namespace
}  // namespace coderunner
