#include <gtest/gtest.h>

#include "domain/reaping.h"

namespace coderunner {
namespace {

using namespace std::chrono_literals;

constexpr UtcTime kNoon{Millis{1'787'573'280'000}};
constexpr MonoTime kBoot{0ms};

Moment at(Millis utc, Millis mono) { return {kNoon + utc, kBoot + mono}; }

TEST(Reaping, AClockJumpsByMoreThanFiveSecondsEitherWay) {
  EXPECT_FALSE(clock_jumped(at(0s, 0s), at(3600s, 3600s)));
  EXPECT_FALSE(clock_jumped(at(0s, 0s), at(65s, 60s)));
  EXPECT_FALSE(clock_jumped(at(0s, 0s), at(55s, 60s)));
  EXPECT_TRUE(clock_jumped(at(0s, 0s), at(65'001ms, 60s)));
  EXPECT_TRUE(clock_jumped(at(0s, 0s), at(54'999ms, 60s)));
}

TEST(Reaping, WhatLiesBetweenTwoDistantTicksWasNotWatched) {
  EXPECT_FALSE(was_unwatched(at(0s, 0s), at(60s, 60s)));
  EXPECT_TRUE(was_unwatched(at(0s, 0s), at(61s, 61s)));
}

TEST(Reaping, AgeCountsOnlyWhereBothClocksSayIt) {
  EXPECT_TRUE(is_overdue(kNoon, kBoot, 15min, at(15min + 1ms, 15min + 1ms)));
  EXPECT_FALSE(is_overdue(kNoon, kBoot, 15min, at(15min, 15min + 1ms)));
  EXPECT_FALSE(is_overdue(kNoon, kBoot, 15min, at(15min + 1ms, 15min)));
  EXPECT_FALSE(is_overdue(kNoon + 1h, kBoot, 15min, at(15min, 15min))) << "begun in the future";
}

TEST(Reaping, WhatBeganInTheFutureOfAClockSetRightIsJudgedByTheWatchAlone) {
  EXPECT_FALSE(is_overdue(kNoon + 24h * 365, kBoot, 15min, at(15min, 15min)));
  EXPECT_TRUE(is_overdue(kNoon + 24h * 365, kBoot, 15min, at(15min + 1ms, 15min + 1ms)));
}

TEST(Reaping, ThePurgeIsBoundedByTheNewestAdmission) {
  EXPECT_EQ(purge_cutoff(kNoon, kNoon - 1h, 24h), kNoon - 24h);
  EXPECT_EQ(purge_cutoff(kNoon + 24h * 3650, kNoon, 24h * 90), kNoon + 24h - 24h * 90)
      << "the clock is ten years ahead";
  EXPECT_EQ(purge_cutoff(kNoon, kNoon + 24h * 30, 24h), kNoon - 24h);
  EXPECT_EQ(purge_cutoff(kNoon, std::nullopt, 24h), std::nullopt);
}

}  // namespace
}  // namespace coderunner
