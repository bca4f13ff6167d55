// The syntax check of admission and `coderunner check`.
#include <gtest/gtest.h>

#include "base/text.h"
#include "executor/lua_check.h"

namespace coderunner::executor {
namespace {

TEST(SyntaxCheck, PassesWhatParsesAndRunsNoneOfIt) {
  EXPECT_EQ(LuaCheck{}.check("while true do end"), std::nullopt);
  EXPECT_EQ(LuaCheck{}.check(""), std::nullopt);
}

TEST(SyntaxCheck, NamesTheLineAndTheReason) {
  const auto error = LuaCheck{}.check("local a = 1\nlocal b = = 2\n");
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(*error, (SyntaxError{2, "unexpected symbol near '='"}));
}

TEST(SyntaxCheck, RefusesBytecode) {
  const auto error = LuaCheck{}.check(std::string_view{"\x1bLua\x54\x00", 6});
  ASSERT_TRUE(error.has_value());
  EXPECT_NE(error->message.find("binary chunk"), std::string::npos) << error->message;
}

TEST(SyntaxCheck, SurvivesHostileText) {
  std::string nested, unclosed = "x = '";
  for (int i = 0; i < 100'000; ++i) nested += "(", unclosed += "\xff";
  for (const std::string& source : {nested, unclosed, std::string("x = \0", 5)}) {
    const auto error = LuaCheck{}.check(source);
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->line, 1);
    EXPECT_TRUE(is_valid_utf8(error->message));
  }
}

}  // namespace
}  // namespace coderunner::executor
