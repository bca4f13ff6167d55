#include <gtest/gtest.h>

#include "adapters/system/process_identity.h"

namespace coderunner {
namespace {

const std::string kAfterName =
    " S 1 7 7 0 -1 4194304 205 0 0 0 1 2 0 0 20 0 3 0 86383 1048576 99 18446744073709551615 0 0";

TEST(ProcessStat, IsReadBehindACommandNameThatHoldsParenthesesAndSpaces) {
  for (const std::string name : {"(sh)", "(a) b (c)", "() 7 R 1 1 1)", "(\n)", "())"}) {
    const auto stat = parse_process_stat("42 " + name + kAfterName);
    ASSERT_TRUE(stat) << name;
    EXPECT_EQ(*stat, (ProcessStat{'S', 3, 86383})) << name;
  }
}

TEST(ProcessStat, OfAnythingElseIsNothing) {
  EXPECT_FALSE(parse_process_stat(""));
  EXPECT_FALSE(parse_process_stat("42 (sh)"));
  EXPECT_FALSE(parse_process_stat("42 (sh) "));
  EXPECT_FALSE(parse_process_stat("42 (sh) S 1 7 7 0 -1 4194304 205 0 0 0 1 2 0 0 20 0 3 0"));
  EXPECT_FALSE(parse_process_stat("42 (sh) S 1 7 7 0 -1 4194304 205 0 0 0 1 2 0 0 20 0 3 0 x 1"));
}

TEST(ExecutorIdText, GivesTheSameProcessBack) {
  const ProcessIdentity process{"queue-1", "c2ba06da-58ec", "4026531836", 77, 12345};
  EXPECT_EQ(to_executor_id(process).value, "queue-1|c2ba06da-58ec|4026531836|77|12345");
  EXPECT_EQ(parse_executor_id(to_executor_id(process)), process);
}

TEST(ExecutorIdText, ThatCouldMeanAWholeGroupOrNothingIsRefused) {
  for (const std::string text :
       {"", "h|b|n|77", "h|b|n|77|1|2", "h|b|n|0|1", "h|b|n|-1|1", "h|b|n|x|1", "h|b|n|77|",
        "h|b|n|77|-1", "h|b|n|77x|1", "h|b|n|99999999999|1"})
    EXPECT_FALSE(parse_executor_id({text})) << text;
}

}  // namespace
}  // namespace coderunner
