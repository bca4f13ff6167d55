// What a script can do where no Lua instruction runs, and what it can make its own process hold:
// the budget and the cap reach it there too.
#include <gtest/gtest.h>

#include <new>

#include "domain/limits.h"
#include "tests/unit/executor_script_stage.h"

namespace coderunner::executor {
namespace {

constexpr Millis kPlenty{60'000};

TEST(LoopBudgetOfAScript, EndsALoopOfCallsThatIsAllInC) {
  Stage stage;
  stage.answer = [](const ScriptCall&) { return CallResult{204, std::nullopt}; };
  EXPECT_EQ(stage.run("string.gsub(('/a'):rep(10000), '/a', api.get)").verdict,
            ScriptVerdict::loop_budget);
  EXPECT_LT(stage.calls.size(), 1000U);
}

TEST(LoopBudgetOfAScript, EndsALoopOfJsonThatIsAllInC) {
  for (const char* source : {"string.gsub(('1'):rep(100000), '1', json.decode)",
                             "string.gsub(('1'):rep(100000), '1', json.encode)",
                             "string.gsub(('1'):rep(100000), '1', log)"}) {
    Stage stage;
    EXPECT_EQ(stage.run(source).verdict, ScriptVerdict::loop_budget) << source;
  }
}

// A close that is a C function runs no instruction a hook could stop.
TEST(LoopBudgetOfAScript, OnceUsedUpLetsNoCallThroughAClose) {
  Stage stage;
  EXPECT_EQ(stage
                .run("getmetatable('').__close = api.post "
                     "local path <close> = '/cards' while true do end")
                .verdict,
            ScriptVerdict::loop_budget);
  EXPECT_TRUE(stage.calls.empty());
}

TEST(LoopBudgetOfAScript, EndsAScriptThatCatchesItsMemoryErrorForEver) {
  for (const char* source :
       {"while true do pcall(string.rep, 'x', 1e9) end",
        "local t = {} while true do pcall(function() while true do "
        "t[#t + 1] = ('x'):rep(1000) end end) end",
        "local function f() local ok = pcall(f) return ok and 1 or pcall(f) end f() "
        "while true do pcall(f) end"}) {
    Stage stage;
    EXPECT_EQ(stage.run(source).verdict, ScriptVerdict::loop_budget) << source;
  }
}

TEST(LoopBudgetOfAScript, EndsTheClosingValueOfAForLoop) {
  Stage stage;
  EXPECT_EQ(stage
                .run("local forever = setmetatable({}, {__close = function() while true do end "
                     "end}) while true do pcall(function() for _ in "
                     "function() return 1 end, nil, nil, forever do break end end) end")
                .verdict,
            ScriptVerdict::loop_budget);
}

TEST(LoopBudgetOfAScript, OutlivesWhatAScriptDoesToItsGlobals) {
  for (const char* source :
       {"error, pcall, xpcall, log, print, api, json, tostring = nil while true do end",
        "for name in pairs(_G) do _G[name] = nil end while true do end",
        "setmetatable(_G, {__index = function(t, k) return t[k] end}) local x = nothing",
        "error = function() while true do end end local x = nil + 1",
        "tostring = function() while true do end end error({})",
        "getmetatable('').__index = function(s, k) return s[k] end local x = ('a').b",
        "getmetatable('').__concat = function() while true do end end error({} .. 'x')"}) {
    Stage stage;
    const ScriptEnd end = stage.run(source);
    EXPECT_NE(end.verdict, ScriptVerdict::success) << source;
    EXPECT_NE(end.verdict, ScriptVerdict::memory) << source << ": " << end.message;
  }
}

TEST(MemoryOfAScript, HoldsWhatEncodingNeedsToo) {
  Stage stage;
  stage.limits = {kPlenty, 64UL * 1024 * 1024};
  const ScriptEnd end =
      stage.run("local t = {} for i = 1, 60000 do t['k' .. i] = 1 end t.a = t json.encode(t)");
  EXPECT_EQ(end, (ScriptEnd{ScriptVerdict::error, "script:1: json: the text is too large"}));
}

TEST(MemoryOfAScript, EndsItWhereItsProcessHasNoneLeftOutsideLua) {
  for (const char* source : {"api.get('/x')", "pcall(api.get, '/x') error()"}) {
    Stage stage;
    stage.answer = [](const ScriptCall&) -> CallAnswer { throw std::bad_alloc{}; };
    EXPECT_NE(stage.run(source).verdict, ScriptVerdict::success) << source;
  }
  Stage stage;
  stage.answer = [](const ScriptCall&) -> CallAnswer { throw std::bad_alloc{}; };
  EXPECT_EQ(stage.run("api.get('/x')").verdict, ScriptVerdict::memory);
}

TEST(DeepRecursion, EndsWithAnErrorWhateverRecurses) {
  for (const char* source :
       {"local function f(s) return (string.gsub(s, '.', f)) end f('a')",
        "local function f() table.sort({1, 2}, f) end f()",
        "local function f() return pcall(f) end for i = 1, 10 do f() end error('back')",
        "local t = {} for i = 1, 100000 do t = {t} end json.encode(t)",
        "local t = {} for i = 1, 100000 do t = {a = t} end json.encode(t)",
        "local t = setmetatable({}, {}) getmetatable(t).__index = t local x = t.y",
        "local mt = {} mt.__tostring = function(t) return tostring(t) end "
        "log(setmetatable({}, mt))",
        "string.find(('a'):rep(300000), ('.-'):rep(300000))"}) {
    Stage stage;
    stage.limits = {kPlenty, 64UL * 1024 * 1024};
    const ScriptEnd end = stage.run(source);
    EXPECT_TRUE(end.verdict == ScriptVerdict::error || end.verdict == ScriptVerdict::memory)
        << source << ": " << end.message;
  }
}

TEST(TheLog, TakesNoMoreThanOneRunMayWrite) {
  Stage stage;
  stage.limits.loop_budget = kPlenty;
  EXPECT_EQ(stage.run("for i = 1, 100000 do log(('x'):rep(100)) end").verdict,
            ScriptVerdict::success);
  const std::size_t line = 100 + limits::kLogLineOverhead;
  EXPECT_EQ(stage.lines.size(), limits::kMaxLogBytesPerRun / line + 1);  // its broker sees the cut
}

TEST(TheLog, TakesBytesOfAnyKind) {
  Stage stage;
  EXPECT_EQ(stage.logged("log('\\xff\\xc3', '\\0', '\\u{1F600}', '\\xed\\xa0\\x80')"),
            std::string("\xEF\xBF\xBD\xEF\xBF\xBD\t\0\t\xF0\x9F\x98\x80\t"
                        "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD",
                        23));
}

}  // namespace
}  // namespace coderunner::executor
