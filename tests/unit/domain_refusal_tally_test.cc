#include <gtest/gtest.h>

#include "domain/refusal_tally.h"

namespace coderunner {
namespace {

UtcTime at(std::string_view text) { return *from_sql(text); }

TEST(RefusalTally, AnHourIsAnHourOfUtc) {
  const UtcTime hour = at("2026-08-24 12:00:00.000");
  EXPECT_EQ(refusal_hour(hour), hour);
  EXPECT_EQ(refusal_hour(at("2026-08-24 12:59:59.999")), hour);
  EXPECT_NE(refusal_hour(at("2026-08-24 13:00:00.000")), hour);
}

TEST(RefusalTally, TheCountingRowSaysHowManyOfEachKind) {
  RefusalTally tally{.kept = 1000};
  fold(tally, ErrorCode::does_not_parse);
  EXPECT_EQ(folded_code(tally), ErrorCode::does_not_parse);
  fold(tally, ErrorCode::rejected_for_depth);
  fold(tally, ErrorCode::rejected_for_depth);
  fold(tally, ErrorCode::does_not_parse);
  EXPECT_EQ(folded_code(tally), ErrorCode::rejected_for_depth) << "whoever was told 107 finds it";
  EXPECT_EQ(
      folded_message(tally, at("2026-08-24 12:00:00.000")),
      "4 more refused submissions in the hour from 2026-08-24T12:00:00.000Z, beyond the first "
      "1000: 2 rejected for depth, 2 that do not parse");
}

}  // namespace
}  // namespace coderunner
