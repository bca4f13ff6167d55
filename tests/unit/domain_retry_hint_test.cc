#include <gtest/gtest.h>

#include "domain/retry_hint.h"

namespace coderunner {
namespace {

using namespace std::chrono_literals;

constexpr UtcTime kNow = UtcTime{1'787'573'280'000ms};

RetryHint hint_of(std::vector<std::string> headers, std::optional<double> in_body = {},
                  std::optional<std::string> date = {}) {
  return retry_hint({std::move(headers), std::move(date), in_body, kNow}, GatePolicy{});
}

TEST(RetryHint, TakesDeltaSecondsFromHeaderOrBodyAndTheLargestOfAll) {
  EXPECT_EQ(hint_of({"10"}).wait, 10s);
  EXPECT_EQ(hint_of({}, 12.0).wait, 12s);
  EXPECT_EQ(hint_of({"10"}, 12.0).wait, 12s);
  EXPECT_EQ(hint_of({" 10 "}, 2.0).wait, 10s);
  EXPECT_EQ(hint_of({"20", "7"}).wait, 20s);
  EXPECT_EQ(hint_of({"7", "20", "soon"}, 3.0).wait, 20s);
}

TEST(RetryHint, RoundsUpAndNeverBelowASecond) {
  EXPECT_EQ(hint_of({"0"}).wait, 1s);
  EXPECT_EQ(hint_of({"1.2"}).wait, 2s);
  EXPECT_EQ(hint_of({}, 0.1).wait, 1s);
}

TEST(RetryHint, FallsBackToOneMinuteWhereNothingUsableIsSaid) {
  EXPECT_EQ(hint_of({}).wait, 60s);
  for (const char* text :
       {"", "-5", "soon", "10s", "1e3", "0x10", "+5", "nan", "inf", "Mon, 24 Aug 2026 12:08:05",
        "Mon, 31 Feb 2026 12:08:05 GMT", "Mon, 24 Aug 2026 12:08:05 GMT and more",
        "Mon, 24 Aug 2026 25:08:05 GMT"})
    EXPECT_EQ(hint_of({text}).wait, 60s) << text;
  EXPECT_EQ(hint_of({}, -1.0).wait, 60s);
  EXPECT_EQ(retry_hint({}, {.minute = 3s}).wait, 3s);
}

TEST(RetryHint, IsClampedAndSaysSo) {
  const GatePolicy policy;
  EXPECT_EQ(hint_of({"86400"}).wait, policy.max);
  EXPECT_TRUE(hint_of({"86400"}).clamped);
  EXPECT_TRUE(hint_of({std::string(400, '9')}).clamped);
  EXPECT_TRUE(hint_of({"Tue, 25 Aug 2026 12:08:00 GMT"}).clamped);
  EXPECT_FALSE(hint_of({"3600"}).clamped);
}

// kNow is Monday, 2026-08-24 12:08:00.
TEST(RetryHint, ReadsADateInItsThreeForms) {
  EXPECT_EQ(hint_of({"Mon, 24 Aug 2026 12:08:30 GMT"}).wait, 30s);
  EXPECT_EQ(hint_of({"Monday, 24-Aug-26 12:08:30 GMT"}).wait, 30s);
  EXPECT_EQ(hint_of({"Mon Aug 24 12:08:30 2026"}).wait, 30s);
  EXPECT_EQ(hint_of({"Mon, 24 Aug 2026 12:08:30 GMT", "40"}).wait, 40s);
}

TEST(RetryHint, WaitsOneSecondForADateThatIsPast) {
  EXPECT_EQ(hint_of({"Mon, 24 Aug 2026 12:08:00 GMT"}).wait, 1s);
  EXPECT_EQ(hint_of({"Mon, 24 Aug 2020 12:08:30 GMT"}).wait, 1s);
  EXPECT_EQ(hint_of({"Thursday, 24-Aug-95 12:08:30 GMT"}).wait, 1s) << "1995, not 2095";
}

TEST(RetryHint, CountsADateFromTheAnswersOwnDateWhateverOurClockSays) {
  EXPECT_EQ(hint_of({"Sat, 01 Jan 2028 00:00:20 GMT"}, {}, "Sat, 01 Jan 2028 00:00:00 GMT").wait,
            20s);
  EXPECT_EQ(hint_of({"Sat, 01 Jan 2000 00:00:20 GMT"}, {}, "Sat, 01 Jan 2000 00:00:00 GMT").wait,
            20s);
  EXPECT_EQ(hint_of({"Mon, 24 Aug 2026 12:08:30 GMT"}, {}, "yesterday").wait, 30s);
}

}  // namespace
}  // namespace coderunner
