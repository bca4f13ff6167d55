#include <gtest/gtest.h>

#include "base/result.h"
#include "base/text.h"

namespace coderunner {
namespace {

TEST(Utf8, AcceptsEveryLengthOfCharacter) {
  EXPECT_TRUE(is_valid_utf8(""));
  EXPECT_TRUE(is_valid_utf8("plain"));
  EXPECT_TRUE(is_valid_utf8("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"));
}

TEST(Utf8, RefusesLoneBytesOverlongFormsSurrogatesAndCutCharacters) {
  for (const char* text :
       {"\x80", "\xC0\xAF", "\xC1\xBF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC3", "a\xE2\x82", "\xFF"})
    EXPECT_FALSE(is_valid_utf8(text)) << text;
}

TEST(Utf8, ReplacesOnlyWhatIsMalformed) {
  EXPECT_EQ(replace_invalid_utf8("caf\xC3\xA9"), "caf\xC3\xA9");
  EXPECT_EQ(replace_invalid_utf8("a\xFF"
                                 "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_TRUE(is_valid_utf8(replace_invalid_utf8("\xE2\x82\xF0\x9F\xC0")));
}

TEST(Clamp, CutsOnACharacterAndCountsTheMark) {
  EXPECT_EQ(clamp_utf8("short", 10), "short");
  EXPECT_EQ(clamp_utf8("\xE2\x82\xAC\xE2\x82\xAC", 5), "\xE2\x82\xAC");
  EXPECT_EQ(clamp_utf8("0123456789", 8, "..."), "01234...");
  EXPECT_EQ(clamp_utf8("0123456789", 2, "..."), "01");
}

TEST(Characters, AreCountedNotBytes) {
  EXPECT_EQ(count_characters("a\xC3\xA9\xF0\x9F\x98\x80"), 3U);
}

TEST(Hex, GoesBothWaysAndRefusesTheRest) {
  const std::vector<std::uint8_t> bytes{0x00, 0x7f, 0xff};
  EXPECT_EQ(to_hex(bytes), "007fff");
  EXPECT_EQ(*from_hex("007FfF"), bytes);
  EXPECT_FALSE(from_hex("0").has_value());
  EXPECT_FALSE(from_hex("0g").has_value());
}

TEST(Size, IsANumberAndABinaryUnit) {
  EXPECT_EQ(*parse_size("64MiB"), 64U << 20U);
  EXPECT_EQ(*parse_size("16KiB"), 16384U);
  EXPECT_EQ(*parse_size("7"), 7U);
  for (const char* text : {"", "MiB", "-1", "1MB", "1.5MiB", "99999999999999GiB"})
    EXPECT_FALSE(parse_size(text).has_value()) << text;
}

TEST(Result, HoldsAValueOrAFailureNeverBoth) {
  const Result<int> good{4};
  const Result<int> bad{fail(Failure::unavailable, "away")};
  EXPECT_TRUE(good.has_value());
  EXPECT_EQ(*good, 4);
  EXPECT_EQ(bad.error(), (Error{Failure::unavailable, "away"}));
  EXPECT_EQ(bad.value_or(9), 9);
  EXPECT_DEATH((void)bad.value(), "failure");
  EXPECT_DEATH((void)good.error(), "value");
}

}  // namespace
}  // namespace coderunner
