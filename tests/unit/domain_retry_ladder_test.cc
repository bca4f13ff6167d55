#include <gtest/gtest.h>

#include "domain/retry_ladder.h"

namespace coderunner {
namespace {

using namespace std::chrono_literals;

constexpr Millis kFar = 300s;

bool raises(const LadderStep& step) { return std::holds_alternative<Raise>(step.move); }
std::optional<Millis> waits(const LadderStep& step) {
  const auto* wait = std::get_if<WaitThenResend>(&step.move);
  return wait == nullptr ? std::nullopt : std::optional{wait->wait};
}
AttemptAnswer limited(Millis wait, bool clamped = false) {
  return {.is_get = false, .status = 429, .hint = RetryHint{wait, clamped}};
}

TEST(Ladder, DeliversEverySuccessAndRaisesOtherErrors) {
  const LadderPolicy policy;
  EXPECT_TRUE(std::holds_alternative<Deliver>(next_step({.status = 200}, 1, kFar, policy).move));
  EXPECT_TRUE(std::holds_alternative<Deliver>(next_step({.status = 204}, 1, kFar, policy).move));
  EXPECT_TRUE(raises(next_step({.status = 404}, 1, kFar, policy)));
  EXPECT_TRUE(raises(next_step({.status = 401}, 1, kFar, policy)));
}

TEST(Ladder, WaitsOutAShortRateLimitWithTheMarginAndGatesTheKey) {
  const LadderPolicy policy;
  const LadderStep step = next_step(limited(10s), 1, kFar, policy);
  EXPECT_EQ(waits(step), 15s);
  EXPECT_EQ(step.close_gate_for, 10s);
}

TEST(Ladder, GivesUpAShortRateLimitAtTheAttemptCapButStillGates) {
  const LadderPolicy policy;
  EXPECT_TRUE(waits(next_step(limited(10s), 2, kFar, policy)).has_value());
  const LadderStep step = next_step(limited(10s), 3, kFar, policy);
  EXPECT_TRUE(raises(step));
  EXPECT_EQ(step.close_gate_for, 10s);
}

TEST(Ladder, EndsAtOnceOnALongRateLimitAndLeavesTheWaitToTheGate) {
  const LadderPolicy policy;
  EXPECT_EQ(waits(next_step(limited(99s), 1, kFar, policy)), 104s);
  const LadderStep step = next_step(limited(100s), 1, kFar, policy);
  EXPECT_TRUE(raises(step));
  EXPECT_EQ(step.close_gate_for, 100s);
  EXPECT_TRUE(raises(next_step(limited(65min, true), 1, kFar, policy)));
}

TEST(Ladder, NeverBeginsAWaitThatDoesNotFitBeforeTheWall) {
  const LadderPolicy policy;
  const LadderStep step = next_step(limited(10s), 1, 15s, policy);
  EXPECT_TRUE(raises(step));
  EXPECT_EQ(step.close_gate_for, 10s);
  EXPECT_EQ(waits(next_step(limited(10s), 1, 15001ms, policy)), 15s);
}

TEST(Ladder, WaitsAMinuteOnAMethodLimitAndLeavesTheKeyOpen) {
  const LadderPolicy policy;
  const AttemptAnswer answer{.is_get = false, .status = 401, .method_limit = true};
  const LadderStep step = next_step(answer, 1, kFar, policy);
  EXPECT_EQ(waits(step), 60s);
  EXPECT_FALSE(step.close_gate_for.has_value());
  EXPECT_TRUE(raises(next_step(answer, 3, kFar, policy)));
}

TEST(Ladder, ResendsOnlyGetsAfterATimeoutOrAServerError) {
  const LadderPolicy policy;
  for (const std::optional<int> status :
       {std::optional<int>{}, std::optional{500}, std::optional{503}}) {
    EXPECT_EQ(waits(next_step({.is_get = true, .status = status}, 1, kFar, policy)), 0ms);
    EXPECT_EQ(waits(next_step({.is_get = true, .status = status}, 2, kFar, policy)), 0ms);
    EXPECT_TRUE(raises(next_step({.is_get = true, .status = status}, 3, kFar, policy)));
    EXPECT_TRUE(raises(next_step({.is_get = false, .status = status}, 1, kFar, policy)));
  }
}

TEST(Ladder, TellsAMethodLimitFromABadKeyByItsText) {
  EXPECT_TRUE(says_method_limit(401, R"({"message":"API limit reached for this method"})"));
  EXPECT_FALSE(says_method_limit(401, R"({"message":"Invalid API key"})"));
  EXPECT_FALSE(says_method_limit(429, "API limit reached for this method"));
}

TEST(Ladder, TellsAConnectionThatWasNeverMadeFromAnEffectThatMayHaveHappened) {
  const LadderStep step =
      next_step({.is_get = false, .never_sent = true}, 1, Millis{100'000}, LadderPolicy{});
  EXPECT_EQ(std::get<Raise>(step.move).reason, "no connection to the API; nothing was sent");
}

}  // namespace
}  // namespace coderunner
