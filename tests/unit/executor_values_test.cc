// The executor's small decisions and texts: protocol, log share, outcomes, error documents,
// back-off.
#include <gtest/gtest.h>

#include <csignal>

#include "base/text.h"
#include "domain/limits.h"
#include "executor/api_client.h"
#include "executor/channel.h"
#include "executor/curl_api_client.h"
#include "executor/launcher.h"
#include "executor/protocol.h"
#include "executor/run_log.h"
#include "executor/run_outcome.h"
#include "tests/support/fakes.h"

namespace coderunner::executor {
namespace {

// ---- protocol

TEST(Protocol, ComesBackAsItWasSaid) {
  const ScriptStart start{ExecutionId{7}, "log(1)", R"({"a":"\"é"})", "nightly"};
  EXPECT_EQ(*parse_script_start(to_json(start)), start);
  const ScriptStart bare{ExecutionId{7}, "", std::nullopt, std::nullopt};
  EXPECT_EQ(*parse_script_start(to_json(bare)), bare);
  for (const FromScript& said :
       std::vector<FromScript>{ScriptLog{"line\n\x01"}, ScriptCall{"GET", "/x", std::nullopt},
                               ScriptCall{"POST", "/x", "{}"}, ScriptEnd{},
                               ScriptEnd{ScriptVerdict::memory, "too much"}})
    EXPECT_EQ(*parse_from_script(to_json(said)), said);
  for (const CallAnswer& answer : std::vector<CallAnswer>{
           CallResult{204, std::nullopt}, CallResult{200, "[1]"},
           CallError{std::nullopt, std::nullopt, "no answer"}, CallError{404, "C101", "no card"}})
    EXPECT_EQ(*parse_call_answer(to_json(answer)), answer);
}

TEST(Protocol, MakesLoneBytesWhole) {
  const auto said = parse_from_script(to_json(FromScript{ScriptLog{"a\xff"}}));
  EXPECT_EQ(*said, FromScript{ScriptLog{"a\xEF\xBF\xBD"}});
}

TEST(Protocol, RefusesWhatNobodySays) {
  for (const std::string& text :
       {std::string{}, std::string{"null"}, std::string{"[]"}, std::string{"{}"},
        std::string{R"({"say":"log"})"}, std::string{R"({"say":"log","message":7})"},
        std::string{R"({"say":"log","message":"a","message":"b"})"},
        std::string{R"({"say":"log","message":["a"]})"},
        std::string{R"({"say":"log","message":{"a":"b"}})"},
        std::string{R"({"say":"call","method":"GET"})"},
        std::string{R"({"say":"end","verdict":"great","message":""})"},
        std::string{R"({"say":"log","message":"a"} x)"}, std::string{"\xff\x00{", 3},
        std::string(1'000'000, '['), "{\"a\":" + std::string(1'000'000, '{')}) {
    const auto said = parse_from_script(text);
    ASSERT_FALSE(said.has_value()) << text.substr(0, 60);
    EXPECT_EQ(said.error().kind, Failure::corrupt);
  }
}

TEST(SpawnText, CarriesTheLimits) {
  const ScriptLimits limits{Millis{180'000}, 64UL << 20U};
  EXPECT_EQ(parse_spawn_text(spawn_text(limits)), limits);
  for (const char* text : {"", "1", "1 ", "1 2 3", "a b", "1 -2"})
    EXPECT_EQ(parse_spawn_text(text), std::nullopt) << text;
}

// ---- log

class CountedLog final : public Ledger {
 public:
  Result<std::variant<Begun, BeginRefused>> begin(const Begin&) override {
    return fail(Failure::internal, "not here");
  }
  Result<FinishAnswer> finish(ExecutionId, const RunId&, const Outcome&, UtcTime) override {
    return fail(Failure::internal, "not here");
  }
  Result<Done> append_log(ExecutionId, const std::vector<LogLine>& added) override {
    if (away) return fail(Failure::unavailable, "away");
    lines.insert(lines.end(), added.begin(), added.end());
    return Done{};
  }
  Result<AnnounceAnswer> announce(ExecutionId, const RunId&, const std::vector<LogLine>&) override {
    return fail(Failure::internal, "not here");
  }
  Result<std::vector<std::string>> sent_changes(ExecutionId) override {
    return fail(Failure::internal, "not here");
  }
  std::vector<LogLine> lines;
  bool away = false;
};

TEST(RunLogShare, IsCutOnceAndVisibly) {
  CountedLog ledger;
  const fakes::TurnedClock clock;
  RunLog log{ledger, clock, {ExecutionId{1}, RunId{"run1"}}};
  const std::string line(limits::kMaxLogLineBytes, 'x');
  for (int i = 0; i < 200; ++i) log.say("info", line);
  ApiCall call;
  call.path = "/x";
  log.note_call("info", "GET /x: 200", call, RunLog::Keep::within_share);
  log.note_call("info", "sending POST /x", call, RunLog::Keep::always);
  ASSERT_TRUE(log.flush());
  std::size_t bytes = 0;
  int cuts = 0;
  for (const LogLine& kept : ledger.lines) {
    bytes += kept.message.size();
    if (kept.message.starts_with("the log is cut here")) ++cuts;
  }
  EXPECT_EQ(cuts, 1);
  EXPECT_LE(bytes, limits::kMaxLogBytesPerRun + 200);
  EXPECT_GT(bytes, limits::kMaxLogBytesPerRun * 9 / 10);
  EXPECT_EQ(ledger.lines.back().message, "sending POST /x");
  EXPECT_TRUE(ledger.lines.at(ledger.lines.size() - 2).message.starts_with("the log is cut"));
}

TEST(RunLogShare, CountsEmptyLinesToo) {
  CountedLog ledger;
  const fakes::TurnedClock clock;
  RunLog log{ledger, clock, {ExecutionId{1}, RunId{"run1"}}};
  for (int i = 0; i < 100'000; ++i) log.say("info", "");
  EXPECT_LT(log.pending(), 20'000U);
}

TEST(ARunLog, KeepsItsLinesWhileTheStoreIsAwayAndDoesNotHammerIt) {
  CountedLog ledger;
  fakes::TurnedClock clock;
  RunLog log{ledger, clock, {ExecutionId{1}, RunId{"run1"}}};
  ledger.away = true;
  log.say("info", "first");
  log.flush_when_due();
  ledger.away = false;
  log.say("info", "second");
  log.flush_when_due();
  EXPECT_TRUE(ledger.lines.empty()) << "not before the store has had its pause";
  clock.advance(limits::kStoreRetryMax);
  log.flush_when_due();
  ASSERT_EQ(ledger.lines.size(), 2U);
  EXPECT_EQ(ledger.lines[0].message, "first");
}

TEST(StorableText, IsWholeUtf8WithoutNul) {
  EXPECT_EQ(storable_text(std::string_view{"a\0b", 3}, 100),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(storable_text("\xff", 100), "\xEF\xBF\xBD");
  EXPECT_EQ(storable_text("plain", 100), "plain");
  const std::string nuls(100, '\0');
  EXPECT_LE(storable_text(nuls, 50).size(), 50U);
  const std::string cut = storable_text(std::string(100, 'x'), 50);
  EXPECT_EQ(cut.size(), 50U);
  EXPECT_TRUE(cut.ends_with(" [cut]"));
}

// ---- outcomes

TEST(AnOutcome, HasTheCodeOfItsKindOfEnd) {
  const auto code = [](const Outcome& outcome) { return outcome.code ? number(*outcome.code) : 0; };
  EXPECT_EQ(code(outcome_of(ScriptEnd{})), 0);
  EXPECT_EQ(code(outcome_of(ScriptEnd{ScriptVerdict::syntax_error, "x"})), 201);
  EXPECT_EQ(code(outcome_of(ScriptEnd{ScriptVerdict::error, "x"})), 301);
  EXPECT_EQ(code(outcome_of(ScriptEnd{ScriptVerdict::loop_budget, "x"})), 301);
  EXPECT_EQ(code(outcome_of(ScriptEnd{ScriptVerdict::memory, "x"})), 302);
  EXPECT_EQ(code(outcome_of_death(SIGXCPU)), 302);
  EXPECT_EQ(code(outcome_of_death(3 << 8)), 302);
  EXPECT_EQ(code(protocol_violation("x")), 302);
  EXPECT_EQ(code(outcome_of(OutsideEnd{RunEnd::wall, Millis{300'000}, {}})), 303);
}

TEST(AnOutcomeFromOutside, ListsWhatTheRunHadSent) {
  EXPECT_EQ(outcome_of(OutsideEnd{RunEnd::wall,
                                  Millis{300'000},
                                  {"POST /cards: 200", "DELETE /cards/7: no answer"}})
                .message,
            "wall: still running after 5m; it had sent 2: POST /cards: 200, DELETE /cards/7: no "
            "answer");
  EXPECT_EQ(outcome_of(OutsideEnd{RunEnd::stop, Millis{1}, {}}).message,
            "stopped: the executor was stopped; it had sent no change");
}

TEST(AnOutcomeFromOutside, FitsItsColumnWhateverTheRunHadSent) {
  const std::vector<std::string> many(10'000, "POST /cards: 200");
  const Outcome outcome = outcome_of(OutsideEnd{RunEnd::wall, Millis{1}, many});
  EXPECT_LE(outcome.message.size(), limits::kMaxErrorMessageBytes);
  EXPECT_TRUE(outcome.message.ends_with(" [cut]"));
}

// ---- API texts

TEST(AnErrorDocument, IsReadLeniently) {
  const auto full = read_error_document(
      R"({"error":{"code":"RL02","message":"slow","reference":"r","details":{"retry_after":12}}})");
  EXPECT_EQ(full.code, "RL02");
  EXPECT_EQ(full.message, "slow");
  EXPECT_EQ(full.retry_after, 12.0);
  EXPECT_EQ(read_error_document(R"({"error":{"details":{"retry_after":"7"}}})").retry_after, 7.0);
  EXPECT_EQ(read_error_document(R"({"error":{"retry_after":0.5}})").retry_after, 0.5);
  EXPECT_EQ(read_error_document(R"({"error":{"details":{"retry_after":-1}}})").retry_after, -1.0);
  EXPECT_EQ(read_error_document(R"({"error":{"code":5}})").code, "5");
}

TEST(AnErrorDocument, TellsTheFirstOfItsDetailsThatIsAText) {
  const auto detail_of = [](const std::string& details) {
    return read_error_document(R"({"error":{"details":)" + details + "}}").detail;
  };
  EXPECT_EQ(detail_of(R"({"title":["no text","too long"],"size":["no number"]})"),
            "size: no number");
  EXPECT_EQ(detail_of(R"({"title":"no text"})"), "title: no text");
  EXPECT_EQ(detail_of(R"({"card_id":7,"ids":[],"of":{"a":"b"},"deep":[["x"]],"z":["y"]})"), "z: y");
  for (const char* none : {R"({"card_id":7})", R"({"retry_after":"7"})", "{}", "[]", "[\"x\"]"})
    EXPECT_EQ(detail_of(none), std::nullopt) << none;
  EXPECT_EQ(detail_of(R"({"a":)" + std::string(1'000'000, '[')), std::nullopt);
}

TEST(AnErrorDocument, ThatIsNoneSaysNothing) {
  for (const std::string& body :
       {std::string{}, std::string{"<html>"}, std::string{"[]"}, std::string{"{}"},
        std::string{R"({"error":"x"})"}, std::string{R"({"error":{"details":[1]}})"},
        std::string{R"({"error":{"details":{"retry_after":"soon"}}})"}, std::string(1'000'000, '['),
        "{\"error\":" + std::string(1'000'000, '[')}) {
    const auto read = read_error_document(body);
    EXPECT_EQ(read.code, std::nullopt);
    EXPECT_EQ(read.message, std::nullopt);
    EXPECT_EQ(read.retry_after, std::nullopt);
  }
}

TEST(ABaseAddress, IsTheAccountsOwn) {
  EXPECT_EQ(*base_address("https://{account}.kanbanize.com/api/v2", "acme"),
            "https://acme.kanbanize.com/api/v2");
  EXPECT_EQ(*base_address("http://127.0.0.1:8/{account}/api/v2/", "a-1"),
            "http://127.0.0.1:8/a-1/api/v2");
}

TEST(ABaseAddress, IsRefusedForAnAccountThatIsNoLabel) {
  for (const char* account : {"", "x.evil/", "evil.example#", "A", "a@b", "-a", "a-"})
    EXPECT_FALSE(base_address("https://{account}.kanbanize.com/api/v2", account)) << account;
  EXPECT_FALSE(base_address("file:///etc/{account}", "acme"));
}

// ---- launcher

TEST(TheRestartDelay, DoublesUpToItsLimit) {
  EXPECT_EQ(restart_delay(1), Millis{100});
  EXPECT_EQ(restart_delay(2), Millis{200});
  EXPECT_EQ(restart_delay(6), Millis{3'200});
  EXPECT_EQ(restart_delay(7), Millis{5'000});
  EXPECT_EQ(restart_delay(1'000'000), Millis{5'000});
}

}  // namespace
}  // namespace coderunner::executor
