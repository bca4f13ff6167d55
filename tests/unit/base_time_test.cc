#include <gtest/gtest.h>

#include "base/time.h"

namespace coderunner {
namespace {

using namespace std::chrono_literals;

TEST(Time, IsWrittenWithExactlyThreeDigitsInBothForms) {
  const UtcTime at = utc_from_epoch_ms(1'787'573'280'007);
  EXPECT_EQ(to_rfc3339(at), "2026-08-24T12:08:00.007Z");
  EXPECT_EQ(to_sql(at), "2026-08-24 12:08:00.007");
}

TEST(Time, ReadsBackWhatItWrote) {
  for (const std::int64_t ms :
       {0LL, 1LL, 951'782'400'000LL, 1'787'573'280'999LL, 4'102'444'799'999LL}) {
    const UtcTime at = utc_from_epoch_ms(ms);
    EXPECT_EQ(*from_sql(to_sql(at)), at);
    EXPECT_EQ(*from_rfc3339(to_rfc3339(at)), at);
  }
}

TEST(Time, ReadsStoredTimesOfOtherWritersWithNoneOrFinerFractions) {
  EXPECT_EQ(*from_sql("2026-08-24 12:08:00"), utc_from_epoch_ms(1'787'573'280'000));
  EXPECT_EQ(*from_sql("2026-08-24 12:08:00.123456"), utc_from_epoch_ms(1'787'573'280'123));
}

TEST(Time, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "2026-08-24", "2026-13-24 12:08:00", "2026-02-30 12:08:00", "2026-08-24 24:00:00",
        "2026-08-24 12:08:00.", "2026-08-24 12:08:00.1234567", "2026-08-24T12:08:00",
        "0000-00-00 00:00:00", "2026-08-24 12:08:00 "})
    EXPECT_FALSE(from_sql(text).has_value()) << text;
}

TEST(Time, AppliesTheOffsetOfAnRfc3339Time) {
  EXPECT_EQ(*from_rfc3339("2026-08-24T14:08:00+02:00"), utc_from_epoch_ms(1'787'573'280'000));
  EXPECT_EQ(*from_rfc3339("2026-08-24T10:38:00-01:30"), utc_from_epoch_ms(1'787'573'280'000));
  EXPECT_FALSE(from_rfc3339("2026-08-24T12:08:00").has_value());
}

TEST(Duration, IsAWholeNumberAndOneUnit) {
  EXPECT_EQ(*parse_duration("500ms"), 500ms);
  EXPECT_EQ(*parse_duration("5s"), 5s);
  EXPECT_EQ(*parse_duration("15m"), 15min);
  EXPECT_EQ(*parse_duration("24h"), 24h);
  EXPECT_EQ(*parse_duration("90d"), 24h * 90);
  for (const char* text :
       {"", "5", "s", "-5s", "1.5s", "5 s", "5S", "99999999999999999999s", "9223372036854775807d"})
    EXPECT_FALSE(parse_duration(text).has_value()) << text;
}

TEST(Duration, IsShownInTheLargestUnitThatDividesIt) {
  EXPECT_EQ(format_duration(90s), "90s");
  EXPECT_EQ(format_duration(120s), "2m");
  EXPECT_EQ(format_duration(24h * 90), "90d");
  EXPECT_EQ(format_duration(1500ms), "1500ms");
  EXPECT_EQ(format_duration(0ms), "0ms");
}

}  // namespace
}  // namespace coderunner
