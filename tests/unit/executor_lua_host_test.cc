// A script in its Lua state: what it is given, what it can not reach, and how each kind of end is
// told apart (contract section 7).
#include <gtest/gtest.h>

#include "base/text.h"
#include "domain/limits.h"
#include "tests/unit/executor_script_stage.h"

namespace coderunner::executor {
namespace {

TEST(Script, IsGivenItsEventAndItsExecution) {
  Stage stage;
  stage.start.payload = R"({"card":{"id":7},"tags":["a","b"]})";
  stage.start.identifier = "nightly";
  EXPECT_EQ(stage.logged("log(event.card.id, #event.tags, execution.id, execution.identifier)"),
            "7\t2\t41\tnightly");
}

TEST(Script, WithoutAPayloadHasAnEmptyEvent) {
  Stage stage;
  EXPECT_EQ(stage.logged("log(type(event), event.card, execution.identifier)"), "table\tnil\tnil");
}

TEST(Script, PrintsIntoTheLog) {
  Stage stage;
  EXPECT_EQ(stage.logged("print('a', 1, nil, true) log() log(1.5)"), "a\t1\tnil\ttrue||1.5");
}

TEST(Script, ReachesNothingOfTheMachine) {
  for (const char* name :
       {"io", "os", "require", "load", "loadfile", "dofile", "debug", "coroutine", "package",
        "string.dump", "collectgarbage", "sleep", "warn"}) {
    Stage stage;
    EXPECT_EQ(stage.logged("log(" + std::string{name} + ")"), "nil") << name;
  }
}

TEST(Script, HasTheLibrariesThatOnlyCompute) {
  Stage stage;
  EXPECT_EQ(
      stage.logged("log(string.upper('a'), math.max(1, 2), #table.pack(1, 2), utf8.len('\u00e4'))"),
      "A\t2\t2\t1");
}

TEST(Script, IsRefusedAsBytecode) {
  Stage stage;
  const ScriptEnd end = stage.run("\x1bLua");
  EXPECT_EQ(end.verdict, ScriptVerdict::syntax_error);
  EXPECT_NE(end.message.find("binary chunk"), std::string::npos) << end.message;
}

TEST(Script, ThatDoesNotParseSaysWhere) {
  Stage stage;
  const ScriptEnd end = stage.run("log('a')\nlog(");
  EXPECT_EQ(end.verdict, ScriptVerdict::syntax_error);
  EXPECT_TRUE(end.message.starts_with("script:2: ")) << end.message;
  EXPECT_TRUE(stage.lines.empty());
}

TEST(Script, ThatFailsSaysWhere) {
  Stage stage;
  const ScriptEnd end = stage.run("log('before')\nerror('no luck')");
  EXPECT_EQ(end, (ScriptEnd{ScriptVerdict::error, "script:2: no luck"}));
  EXPECT_EQ(stage.lines, std::vector<std::string>{"before"});
}

TEST(Script, ThatLoopsOverNoListSaysWhere) {
  const std::string refused = "script:2: bad argument #1 to 'ipairs' (table expected, got ";
  Stage stage;
  EXPECT_EQ(stage.run("\nfor _, card in ipairs(event.cards) do end").message, refused + "nil)");
  EXPECT_EQ(stage.run("\nfor _, card in ipairs(api.cards{}) do end").message,
            refused + "function); a loop over api.cards takes no ipairs");
}

TEST(Script, LoopsOverListsAsInLua) {
  Stage stage;
  EXPECT_EQ(stage.logged("for at, value in ipairs{'a', 'b', nil, 'c'} do log(at, value) end "
                         "local far = setmetatable({}, {__index = function(_, at) "
                         "if at < 2 then return 'far' end end}) "
                         "for at, value in ipairs(far) do log(at, value) end log(pcall(ipairs))"),
            "1\ta|2\tb|1\tfar|false\tscript:1: bad argument #1 to 'ipairs' (table expected, got no "
            "value)");
}

TEST(Script, MayFailWithAnythingAndStillGetAnEnd) {
  for (const char* source :
       {"error()", "error({})", "error(json.null)", "error(setmetatable({}, {__tostring = error}))",
        "error(setmetatable({}, {__tostring = function() return 7 end}))",
        "error(('x'):rep(100000))", "error('\\xff\\xfe')", "error('\\0')"}) {
    Stage stage;
    const ScriptEnd end = stage.run(source);
    EXPECT_EQ(end.verdict, ScriptVerdict::error) << source;
    EXPECT_FALSE(end.message.empty()) << source;
    EXPECT_TRUE(is_valid_utf8(end.message)) << source;
    EXPECT_LE(end.message.size(), limits::kMaxErrorMessageBytes) << source;
  }
}

TEST(Script, WithAPayloadThatIsNoJsonIsAnError) {
  Stage stage;
  stage.start.payload = "{";
  const ScriptEnd end = stage.run("log('never')");
  EXPECT_EQ(end.verdict, ScriptVerdict::error);
  EXPECT_NE(end.message.find("payload"), std::string::npos) << end.message;
}

TEST(Script, ThatRecursesWithoutEndEndsByItsMemoryOrItsStack) {
  Stage small, large;
  large.limits.loop_budget = small.limits.loop_budget = Millis{60'000};
  large.limits.memory = 256UL * 1024 * 1024;
  const std::string source = "local function f() return 1 + f() end f()";
  EXPECT_EQ(small.run(source).verdict, ScriptVerdict::memory);
  const ScriptEnd end = large.run(source);
  EXPECT_EQ(end.verdict, ScriptVerdict::error);
  EXPECT_NE(end.message.find("stack overflow"), std::string::npos) << end.message;
}

TEST(Script, MayNotHaveFinalizers) {
  Stage stage;
  EXPECT_EQ(stage.logged("log(pcall(setmetatable, {}, {__gc = function() end}))"),
            "false\ta metatable with __gc is not allowed");
}

TEST(Script, ReachesNoMetatableItCouldGiveAFinalizerTo) {
  Stage stage;
  stage.answer = [](const ScriptCall&) { return CallError{404, std::nullopt, "no"}; };
  EXPECT_EQ(stage.logged("local _, e = pcall(api.get, '/x') "
                         "log(getmetatable(e), getmetatable(json.decode('[]')), "
                         "getmetatable(json.null), getmetatable(event))"),
            "false\tfalse\tfalse\tnil");
}

TEST(Script, SetsMetatablesAsLuaDoes) {
  Stage stage;
  EXPECT_EQ(stage.logged("local t = setmetatable({}, {__index = function() return 5 end}) "
                         "log(t.x, getmetatable(setmetatable(t, nil))) "
                         "log(pcall(setmetatable, setmetatable({}, {__metatable = 1}), {}))"),
            "5\tnil|false\tcannot change a protected metatable");
}

// ---- loop budget

TEST(LoopBudgetOfAScript, EndsEveryKindOfLoop) {
  for (const char* source : {
           "while true do end",
           "repeat until false",
           "::again:: goto again",
           "for i = 1, math.huge do end",
           "local function f() return f() end f()",
           "while true do pcall(function() while true do end end) end",
           "while true do pcall(pcall, pcall, error) end",
           "xpcall(function() while true do end end, function() while true do end end)",
           "xpcall(error, function() while true do end end)",
           "local t = setmetatable({}, {__index = function(t, k) return t[k + 1] end}) "
           "while true do pcall(function() return t[1] end) end",
           "local x <close> = setmetatable({}, {__close = function() while true do end end})",
           "local function f() local x <close> = setmetatable({}, {__close = function() "
           "while true do end end}) while true do end end while true do pcall(f) end",
           "error(setmetatable({}, {__tostring = function() while true do end end}))",
           "log(setmetatable({}, {__tostring = function() while true do end end}))",
           "table.sort({3, 2, 1}, function() while true do end end)",
           "string.gsub('a', 'a', function() while true do end end)",
           "for x in function() return 1 end do end",
       }) {
    Stage stage;
    const ScriptEnd end = stage.run(source);
    EXPECT_EQ(end.verdict, ScriptVerdict::loop_budget) << source << ": " << end.message;
  }
}

TEST(LoopBudgetOfAScript, NamesItsLength) {
  Stage stage;
  EXPECT_EQ(stage.run("while true do end").message,
            "script:1: the script's own code ran longer than 50ms");
}

TEST(LoopBudgetOfAScript, NamesTheLineItWasUsedUpOn) {
  for (const char* source :
       {"local function spin()\n\nwhile true do end end\npcall(spin)\nlog('on')",
        "\n\nstring.gsub(('1'):rep(100000), '1', json.decode)",
        "\nerror(setmetatable({}, {__tostring = function()\nwhile true do end end}))"}) {
    Stage stage;
    const ScriptEnd end = stage.run(source);
    EXPECT_EQ(end.verdict, ScriptVerdict::loop_budget);
    EXPECT_TRUE(end.message.starts_with("script:3: the ")) << source << ": " << end.message;
  }
}

TEST(LoopBudgetOfAScript, DoesNotCountWhatTheScriptWaitsForOthers) {
  Stage stage;
  stage.answer = [&stage](const ScriptCall&) {
    stage.clock.advance(Millis{60'000});
    return CallResult{204, std::nullopt};
  };
  EXPECT_EQ(stage.run("for i = 1, 5 do api.get('/boards') for j = 1, 3000 do end end").verdict,
            ScriptVerdict::success);
}

TEST(LoopBudgetOfAScript, OnceUsedUpLetsNoCallThrough) {
  Stage stage;
  EXPECT_EQ(stage.run("pcall(function() while true do end end) api.post('/cards', {})").verdict,
            ScriptVerdict::loop_budget);
  EXPECT_TRUE(stage.calls.empty());
}

// ---- memory

TEST(MemoryOfAScript, IsCapped) {
  for (const char* source : {"local s = ('x'):rep(1e9)",
                             "local t = {} while true do t[#t + 1] = ('x'):rep(100) .. #t end",
                             "local s = 'x' while true do s = s .. s end",
                             "json.decode('[' .. ('1,'):rep(4e6) .. '1]')"}) {
    Stage stage;
    stage.limits.loop_budget = Millis{60'000};
    const ScriptEnd end = stage.run(source);
    EXPECT_EQ(end.verdict, ScriptVerdict::memory) << source << ": " << end.message;
    EXPECT_EQ(end.message, "the script needs more than 8MiB of memory");
  }
}

TEST(MemoryOfAScript, ThatRanOutMayBeCaughtAndFreed) {
  Stage stage;
  EXPECT_EQ(stage.logged("log(pcall(string.rep, 'x', 1e9)) log('still here')"),
            "false\tnot enough memory|still here");
}

TEST(MemoryOfAScript, TooSmallForLuaItselfIsAnEndLikeAnyOther) {
  Stage stage;
  stage.limits.memory = 1024;
  EXPECT_EQ(stage.run("log(1)").verdict, ScriptVerdict::memory);
}

// ---- log

TEST(ALogLine, IsCutOnACharacterWithAMark) {
  Stage stage;
  EXPECT_EQ(stage.run("log(('\xC3\xA4'):rep(20000))").verdict, ScriptVerdict::success);
  ASSERT_EQ(stage.lines.size(), 1U);
  EXPECT_LE(stage.lines[0].size(), limits::kMaxLogLineBytes);
  EXPECT_TRUE(is_valid_utf8(stage.lines[0]));
  EXPECT_TRUE(stage.lines[0].ends_with(" [cut]"));
}

TEST(ALogLine, OfManyLongPartsDoesNotGrowInMemory) {
  Stage stage;
  EXPECT_EQ(
      stage.run("local s = ('x'):rep(2^20) log(table.unpack({s, s, s, s, s, s, s, s}))").verdict,
      ScriptVerdict::success);
  EXPECT_LE(stage.lines.at(0).size(), limits::kMaxLogLineBytes);
}

// ---- api

TEST(AnApiCall, GoesOutAsTheScriptSaysAndItsBodyComesBackDecoded) {
  Stage stage;
  stage.answer = [](const ScriptCall&) { return CallResult{200, R"({"data":[{"card_id":9}]})"}; };
  EXPECT_EQ(stage.logged("local result, status = api.post('/cards', {title = 'x', ids = {1, 2}}) "
                         "log(result.data[1].card_id, status)"),
            "9\t200");
  EXPECT_EQ(stage.calls,
            (std::vector<ScriptCall>{{"POST", "/cards", R"({"ids":[1,2],"title":"x"})"}}));
}

TEST(AnApiCall, ExistsForEachMethod) {
  Stage stage;
  stage.answer = [](const ScriptCall&) { return CallResult{204, std::nullopt}; };
  EXPECT_EQ(stage.logged("log(api.get('/a')) log(api.put('/b', {})) log(api.patch('/c', 1)) "
                         "log(api.delete('/d'))"),
            "nil\t204|nil\t204|nil\t204|nil\t204");
  EXPECT_EQ(stage.calls, (std::vector<ScriptCall>{{"GET", "/a", std::nullopt},
                                                  {"PUT", "/b", "{}"},
                                                  {"PATCH", "/c", "1"},
                                                  {"DELETE", "/d", std::nullopt}}));
}

TEST(AnApiError, IsATableAScriptMayCatch) {
  Stage stage;
  stage.answer = [](const ScriptCall&) {
    return CallError{404, "C101", "API answered 404: C101 No such card"};
  };
  EXPECT_EQ(stage.logged("local ok, e = pcall(api.get, '/cards/7') "
                         "log(ok, e.status, e.code, e.message, e.method, e.path)"),
            "false\t404\tC101\tAPI answered 404: C101 No such card\tGET\t/cards/7");
}

TEST(AnApiError, NobodyCatchesEndsTheScriptWithItsPlace) {
  Stage stage;
  stage.answer = [](const ScriptCall&) {
    return CallError{std::nullopt, std::nullopt, "no answer from the API"};
  };
  EXPECT_EQ(stage.run("\napi.delete('/cards/7')"),
            (ScriptEnd{ScriptVerdict::error, "script:2: DELETE /cards/7: no answer from the API"}));
}

TEST(AnApiCall, WithABodyThatIsNoJsonIsAnErrorThatKeepsTheStatus) {
  Stage stage;
  stage.answer = [](const ScriptCall&) { return CallResult{200, "<html>"}; };
  EXPECT_EQ(stage.logged("local ok, e = pcall(api.get, '/x') log(ok, e.status, e.message)"),
            "false\t200\tAPI answered 200 with a body that is not JSON: unexpected text at byte 1");
}

TEST(AnApiCall, WithArgumentsThatMakeNoSenseIsNotMade) {
  for (const char* source : {"api.get()", "api.get(7)", "api:get('/x')", "api.get('/x', {})",
                             "api.post('/x', print)", "api.post('/x', {[1] = 1, a = 2})"}) {
    Stage stage;
    EXPECT_EQ(stage.run(source).verdict, ScriptVerdict::error) << source;
    EXPECT_TRUE(stage.calls.empty()) << source;
  }
}

}  // namespace
}  // namespace coderunner::executor
