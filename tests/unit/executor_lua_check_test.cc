// The syntax check of admission and `coderunner check`.
#include <gtest/gtest.h>

#include "base/text.h"
#include "domain/limits.h"
#include "executor/lua_check.h"
#include "tests/unit/executor_script_stage.h"

namespace coderunner::executor {
namespace {

std::optional<SyntaxError> check(std::string_view source) {
  const CreepingClock clock;
  return LuaCheck{clock}.check(source);
}

TEST(SyntaxCheck, PassesWhatParsesAndRunsNoneOfIt) {
  EXPECT_EQ(check("while true do end"), std::nullopt);
  EXPECT_EQ(check(""), std::nullopt);
}

TEST(SyntaxCheck, NamesTheLineAndTheReason) {
  const auto error = check("local a = 1\nlocal b = = 2\n");
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(*error, (SyntaxError{2, "unexpected symbol near '='"}));
}

TEST(SyntaxCheck, RefusesBytecode) {
  const auto error = check(std::string_view{"\x1bLua\x54\x00", 6});
  ASSERT_TRUE(error.has_value());
  EXPECT_NE(error->message.find("binary chunk"), std::string::npos) << error->message;
}

TEST(SyntaxCheck, SurvivesHostileText) {
  std::string nested, unclosed = "x = '";
  for (int i = 0; i < 100'000; ++i) nested += "(", unclosed += "\xff";
  for (const std::string& source : {nested, unclosed, std::string("x = \0", 5)}) {
    const auto error = check(source);
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->line, 1);
    EXPECT_TRUE(is_valid_utf8(error->message));
  }
}

// A name used in ninety nested functions of 190 locals each is looked for in all of them, twice: a
// megabyte of such names is eleven seconds of CPU.
TEST(SyntaxCheck, GivesUpOnASourceThatTakesTooLongAndSaysHowFarItCame) {
  const CreepingClock clock;  // 0.1 ms a look: 2 s are 20,000 pieces
  std::string source = "\n\n";
  for (int i = 0; i < 400'000; ++i) source += "x = x\n";
  const auto error = LuaCheck{clock}.check(source);
  ASSERT_TRUE(error.has_value());
  EXPECT_NE(error->message.find("too long"), std::string::npos) << error->message;
  EXPECT_GT(error->line, 100'000);
  EXPECT_LT(clock.mono_now() - MonoTime{}, 2 * limits::kMaxParse);
}

TEST(SyntaxCheck, HasTimeForTheLargestSourceThatIsAdmitted) {
  std::string source;
  while (source.size() < 1024 * 1024) source += "log(event.card.title, 'moved', 1)\n";
  EXPECT_EQ(check(source), std::nullopt);
}

}  // namespace
}  // namespace coderunner::executor
