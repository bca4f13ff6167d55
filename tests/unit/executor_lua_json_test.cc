// JSON as scripts see it: what goes out comes back, and what has no form is said, not guessed.
#include <gtest/gtest.h>

#include "domain/limits.h"
#include "tests/unit/executor_script_stage.h"

namespace coderunner::executor {
namespace {

std::string encoded(const std::string& expression) {
  Stage stage;
  return stage.logged("log(json.encode(" + expression + "))");
}

std::string decoded(const std::string& text, const std::string& shown = "v") {
  Stage stage;
  return stage.logged("local v = json.decode([==[" + text + "]==]) log(" + shown + ")");
}

TEST(JsonEncode, KnowsEveryValue) {
  EXPECT_EQ(encoded("{}"), "{}");
  EXPECT_EQ(encoded("json.array{}"), "[]");
  EXPECT_EQ(encoded("json.array()"), "[]");
  EXPECT_EQ(encoded("{1, 'b', true, json.null}"), R"([1,"b",true,null])");
  EXPECT_EQ(encoded("{b = 2, a = {c = 1.5}}"), R"({"a":{"c":1.5},"b":2})");
  EXPECT_EQ(encoded("nil"), "null");
  EXPECT_EQ(encoded("json.null"), "null");
  EXPECT_EQ(encoded("math.mininteger"), "-9223372036854775808");
  EXPECT_EQ(encoded("'a\"\\n\\0'"), R"("a\"\n\u0000")");
  EXPECT_EQ(encoded("'\\xff'"), "\"\xEF\xBF\xBD\"");
}

TEST(JsonEncode, RefusesWhatHasNoForm) {
  for (const char* value : {"print", "{f = print}", "0/0", "1/0", "{1, nil, 3}", "{1, a = 2}",
                            "{[1.5] = 1}", "{[true] = 1}", "{[2] = 1}"})
    EXPECT_TRUE(encoded(value).starts_with("ended: script:1: ")) << value << ": " << encoded(value);
}

TEST(JsonEncode, EndsOnATableThatHoldsItself) {
  Stage stage;
  const ScriptEnd end = stage.run("local t = {} t.t = t json.encode(t)");
  EXPECT_EQ(end.verdict, ScriptVerdict::error);
  EXPECT_NE(end.message.find("nested deeper than 100"), std::string::npos) << end.message;
}

TEST(JsonEncode, EndsOnATableThatUnfoldsWithoutEnd) {
  Stage stage;
  const ScriptEnd end =
      stage.run("local t = {('x'):rep(1000)} for i = 1, 60 do t = {t, t} end json.encode(t)");
  EXPECT_EQ(end.verdict, ScriptVerdict::error);
  EXPECT_NE(end.message.find("too large"), std::string::npos) << end.message;
}

TEST(JsonDecode, KnowsEveryValue) {
  EXPECT_EQ(decoded("[1,2.5,\"x\",false]", "v[1], v[2], v[3], v[4]"), "1\t2.5\tx\tfalse");
  EXPECT_EQ(decoded("{\"a\":{\"b\":[null]}}", "v.a.b[1] == json.null, v.a.b[1]"), "true\tnull");
  EXPECT_EQ(decoded("9007199254740993"), "9007199254740993");
  EXPECT_EQ(decoded("18446744073709551615", "math.type(v)"), "float");
  EXPECT_EQ(decoded("\"\\ud83d\\ude00\"", "#v"), "4");
  EXPECT_EQ(decoded("{\"a\":1,\"a\":2}", "v.a"), "2");
}

TEST(JsonDecode, RefusesWhatIsNotJson) {
  for (const char* text : {"", "{", "[1,]", "nul", "[1] [2]", "{\"a\"}", "'a'", "\"\xff\""})
    EXPECT_TRUE(decoded(text).starts_with("ended: ")) << text << ": " << decoded(text);
}

TEST(JsonDecode, RefusesWhatIsNestedBeyondReason) {
  EXPECT_NE(decoded(std::string(101, '[') + std::string(101, ']')).find("nested deeper than 100"),
            std::string::npos);
  EXPECT_EQ(decoded(std::string(100, '[') + std::string(100, ']'), "#v"), "1");
}

TEST(JsonDecode, GivesArraysThatEncodeAsArrays) {
  EXPECT_EQ(decoded("{\"a\":[],\"o\":{}}", "json.encode(v)"), R"({"a":[],"o":{}})");
}

TEST(JsonNull, IsCalledByItsNameInErrors) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"local x = json.null.title", "attempt to index json.null (field 'title')"},
      {"json.null.title = 1", "attempt to index json.null (field 'title')"},
      {"local x = 'due ' .. json.null", "attempt to concatenate json.null"},
      {"local x = 1 + json.null", "attempt to perform arithmetic on json.null"},
      {"local x = -json.null", "attempt to perform arithmetic on json.null"},
      {"local x = json.null < 1", "attempt to compare json.null"},
      {"local x = #json.null", "attempt to get length of json.null"},
      {"json.null()", "attempt to call json.null"},
      {"local x = ('a'):rep(json.null)",
       "bad argument #1 to 'rep' (number expected, got json.null)"}};
  for (const auto& [source, message] : wrong) {
    Stage stage;
    EXPECT_EQ(stage.run(source).message, "script:1: " + message);
  }
}

TEST(JsonNull, GivesNobodyItsMetatable) {
  Stage stage;
  EXPECT_EQ(stage.logged("log(getmetatable(json.null), json.null == json.decode('null'), "
                         "type(json.null), json.null)"),
            "false\ttrue\tuserdata\tnull");
}

TEST(JsonArray, LeavesATableWithAMetatableOfItsOwnAlone) {
  Stage stage;
  EXPECT_NE(stage.run("json.array(setmetatable({}, {}))").message.find("metatable of its own"),
            std::string::npos);
}

}  // namespace
}  // namespace coderunner::executor
