// The ladders as a script, the log and the gate see them (contract section 7, brief 10, rulings 12
// to 14): against a told API, on a clock that only waits move.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <optional>

#include "executor/broker.h"
#include "tests/support/fakes.h"

namespace coderunner::executor {
namespace {

using fakes::TurnedClock;

class ToldApi final : public ApiClient {
 public:
  explicit ToldApi(TurnedClock& clock) : clock_(clock) {}
  ApiAnswer perform(const ApiRequest& request, RunWatch&) override {
    sent.push_back({request, clock_.utc_now()});
    clock_.advance(Millis{20});
    if (answers.empty()) return {.status = 200, .body = "{}"};
    ApiAnswer answer = answers.front();
    answers.pop_front();
    return answer;
  }
  struct Sent {
    ApiRequest request;
    UtcTime at;
  };
  std::vector<Sent> sent;
  std::optional<std::string> why_unusable() const override { return unusable; }
  std::optional<std::string> unusable;
  std::deque<ApiAnswer> answers;

 private:
  TurnedClock& clock_;
};

class ToldGates final : public GateStore {
 public:
  Result<Gate> close(const Gate& seen, UtcTime now) override {
    if (broken) return fail(Failure::unavailable, "no gates");
    closed_at.push_back(now);
    standing =
        extend(standing ? std::optional{GateRecord{*standing}} : std::nullopt, seen, now, {});
    return *standing;
  }
  Result<std::vector<Gate>> closed(UtcTime) override { return std::vector<Gate>{}; }
  Result<std::optional<Gate>> closed(const ApiKeyHash&, UtcTime now) override {
    if (broken) return fail(Failure::unavailable, "no gates");
    return standing && standing->until > now ? standing : std::optional<Gate>{};
  }
  Result<std::optional<Gate>> last(const ApiKeyHash&) override { return standing; }
  Result<Done> clear(const ApiKeyHash&) override {
    standing.reset();
    return Done{};
  }
  std::optional<Gate> standing;
  std::vector<UtcTime> closed_at;
  bool broken = false;
};

class KeptLog final : public Ledger {
 public:
  Result<std::variant<Begun, BeginRefused>> begin(const Begin&) override {
    return fail(Failure::internal, "not here");
  }
  Result<FinishAnswer> finish(ExecutionId, const RunId&, const Outcome&, UtcTime) override {
    return fail(Failure::internal, "not here");
  }
  Result<Done> append_log(ExecutionId, const std::vector<LogLine>& added) override {
    ++appends;
    if (away_for > 0) {
      --away_for;
      return fail(Failure::unavailable, "away");
    }
    lines.insert(lines.end(), added.begin(), added.end());
    return Done{};
  }
  Result<AnnounceAnswer> announce(ExecutionId execution, const RunId& run,
                                  const std::vector<LogLine>& added) override {
    EXPECT_EQ(run, RunId{"run1"});
    if (away_for == 0 && --still_ours_for < 0) return AnnounceAnswer::not_this_run;
    const auto kept = append_log(execution, added);
    if (!kept) return kept.error();
    return AnnounceAnswer::announced;
  }
  Result<std::vector<std::string>> sent_changes(ExecutionId) override {
    return fail(Failure::internal, "not here");
  }
  std::vector<LogLine> lines;
  int still_ours_for = 1'000'000;  // announcements, then somebody else ends the row
  int appends = 0;
  int away_for = 0;  // calls
};

// Waiting is turning the clock; an end comes when the test said it would.
class TurningWatch final : public RunWatch {
 public:
  explicit TurningWatch(TurnedClock& clock)
      : wall_at(clock.mono_now() + Millis{300'000}), clock_(clock) {}
  MonoTime wall() const override { return wall_at; }
  std::vector<int> descriptors() const override { return {}; }
  std::optional<RunEnd> look() override {
    if (stop_at && clock_.mono_now() >= *stop_at) return RunEnd::stop;
    if (clock_.mono_now() >= wall_at) return RunEnd::wall;
    return std::nullopt;
  }
  std::optional<RunEnd> wait_until(MonoTime until) override {
    MonoTime next = std::min(until, wall_at);
    if (stop_at) next = std::min(next, *stop_at);
    const auto wait = std::chrono::ceil<Millis>(next - clock_.mono_now());
    waits.push_back(std::chrono::ceil<Millis>(until - clock_.mono_now()));
    clock_.advance(std::max(wait, Millis{0}));
    return look();
  }
  MonoTime wall_at;
  std::optional<MonoTime> stop_at;
  std::vector<Millis> waits;

 private:
  TurnedClock& clock_;
};

class BrokerTest : public ::testing::Test {
 protected:
  CallAnswer call(const ScriptCall& made) {
    auto answered = broker.call(made);
    EXPECT_TRUE(std::holds_alternative<CallAnswer>(answered)) << "the run ended";
    return std::holds_alternative<CallAnswer>(answered) ? std::get<CallAnswer>(answered)
                                                        : CallAnswer{CallError{}};
  }
  CallError error_of(const ScriptCall& made) {
    const CallAnswer answer = call(made);
    EXPECT_TRUE(std::holds_alternative<CallError>(answer)) << "it succeeded";
    return std::holds_alternative<CallError>(answer) ? std::get<CallError>(answer) : CallError{};
  }
  std::optional<RunEnd> end_of(const ScriptCall& made) {
    const auto answered = broker.call(made);
    const auto* end = std::get_if<RunEnd>(&answered);
    return end == nullptr ? std::nullopt : std::optional{*end};
  }
  std::vector<std::string> log_lines() {
    EXPECT_TRUE(log.flush());
    std::vector<std::string> all;
    for (const LogLine& line : ledger.lines) all.push_back(line.message);
    return all;
  }
  static ApiAnswer limited(const std::string& retry_after) {
    return {.status = 429, .body = R"({"error":{"code":"RL02"}})", .retry_after = {retry_after}};
  }
  static ApiAnswer nothing() { return {.problem = "Connection reset"}; }
  static BrokerTask task() {
    BrokerTask task;
    task.execution = ExecutionId{5};
    task.key = ApiKeyHash{"k"};
    return task;
  }

  TurnedClock clock;
  fakes::RecordedEvents events;
  KeptLog ledger;
  ToldGates gates;
  ToldApi api{clock};
  TurningWatch watch{clock};
  RunLog log{ledger, clock, {ExecutionId{5}, RunId{"run1"}}};
  Broker broker{{api, gates, log, watch, clock, events}, task()};
  const ScriptCall get{"GET", "/boards", std::nullopt};
  const ScriptCall post{"POST", "/cards", R"({"title":"x"})"};
};

TEST_F(BrokerTest, AnAnswerGoesToTheScript) {
  api.answers = {{.status = 200, .body = R"({"data":[1]})", .remaining = 29}};
  EXPECT_EQ(call(get), (CallAnswer{CallResult{200, R"({"data":[1]})"}}));
  EXPECT_EQ(log_lines(), std::vector<std::string>{"GET /boards: 200"});
  ASSERT_TRUE(ledger.lines.at(0).call.has_value());
  EXPECT_EQ(*ledger.lines[0].call, (ApiCall{"GET", "/boards", 200, Millis{20}, 1, 29}));
}

TEST_F(BrokerTest, NoContentIsAResultWithoutABody) {
  api.answers = {{.status = 204, .body = ""}, {.status = 200, .body = ""}};
  EXPECT_EQ(call(get), (CallAnswer{CallResult{204, std::nullopt}}));
  EXPECT_EQ(call(get), (CallAnswer{CallResult{200, std::nullopt}}));
}

TEST_F(BrokerTest, AnErrorNamesWhatTheApiSaid) {
  api.answers = {{.status = 404, .body = R"({"error":{"code":"C101","message":"No such card"}})"}};
  EXPECT_EQ(error_of(get), (CallError{404, "C101", "API answered 404: C101 No such card"}));
}

TEST_F(BrokerTest, AnErrorNamesTheFieldTheApiRefused) {
  api.answers = {{.status = 400, .body = R"({"error":{"code":"VE02","message":"Not valid.",
                              "details":{"title":["The value must be a string."]}}})"}};
  EXPECT_EQ(error_of(get).message,
            "API answered 400: VE02 Not valid. (title: The value must be a string.)");
}

TEST_F(BrokerTest, ARefusedFieldsReasonFitsTheMessageAndIsStorable) {
  api.answers = {{.status = 400,
                  .body = R"({"error":{"code":"VE02","details":{"a\u0000b":")" +
                          std::string(100'000, 'x') + R"("}}})"}};
  const std::string message = error_of(get).message;
  EXPECT_TRUE(message.starts_with("API answered 400: VE02 (a")) << message.substr(0, 40);
  EXPECT_EQ(message.find('\0'), std::string::npos);
  EXPECT_LE(message.size(), limits::kMaxErrorMessageBytes);
}

TEST_F(BrokerTest, ARedirectIsNotFollowedAndAnError) {
  api.answers = {{.status = 302, .body = "<html>"}};
  EXPECT_EQ(error_of(get),
            (CallError{302, std::nullopt, "API answered 302; redirects are not followed"}));
}

// ---- 429

TEST_F(BrokerTest, AShort429GatesTheKeyAndWaitsWithTheMarginBeforeItSendsAgain) {
  api.answers = {limited("30"), {.status = 200, .body = "{}"}};
  const UtcTime began = clock.utc_now();
  EXPECT_TRUE(std::holds_alternative<CallResult>(call(get)));
  ASSERT_EQ(api.sent.size(), 2U);
  ASSERT_EQ(gates.closed_at.size(), 1U);
  EXPECT_EQ(gates.closed_at[0], began + Millis{20}) << "before the wait, not after";
  EXPECT_EQ(gates.standing->until, began + Millis{20} + Millis{35'000});
  EXPECT_EQ(gates.standing->hint, Millis{30'000});
  EXPECT_EQ(gates.standing->status, 429);
  EXPECT_EQ(api.sent[1].at, began + Millis{20} + Millis{35'000});
}

TEST_F(BrokerTest, AThird429IsTheLast) {
  api.answers = {limited("10"), limited("10"), limited("10"), {.status = 200, .body = "{}"}};
  const CallError error = error_of(get);
  EXPECT_EQ(error, (CallError{429, "RL02", "rate limited after 3 attempts: RL02"}));
  EXPECT_EQ(api.sent.size(), 3U);
  EXPECT_EQ(gates.closed_at.size(), 3U);
}

TEST_F(BrokerTest, EveryCallStartsItsOwnCount) {
  api.answers = {limited("10"), limited("10"), {.status = 200, .body = "{}"},
                 limited("10"), limited("10"), {.status = 200, .body = "{}"}};
  EXPECT_TRUE(std::holds_alternative<CallResult>(call(get)));
  EXPECT_TRUE(std::holds_alternative<CallResult>(call(get)));
  EXPECT_EQ(api.sent.size(), 6U);
}

TEST_F(BrokerTest, ALong429GatesTheKeyAndEndsTheCallAtOnce) {
  api.answers = {limited("100")};
  const CallError error = error_of(get);
  EXPECT_EQ(error.status, 429);
  EXPECT_EQ(error.message, "rate limited for 100s: RL02");
  EXPECT_TRUE(watch.waits.empty());
  EXPECT_EQ(gates.standing->until, clock.utc_now() + Millis{105'000});
}

TEST_F(BrokerTest, TheLargerOfHeaderAndBodyCounts) {
  ApiAnswer both = limited("10");
  both.body = R"({"error":{"code":"RL02","details":{"retry_after":40}}})";
  api.answers = {both, {.status = 200, .body = "{}"}};
  EXPECT_TRUE(std::holds_alternative<CallResult>(call(get)));
  EXPECT_EQ(watch.waits, std::vector<Millis>{Millis{45'000}});
}

TEST_F(BrokerTest, A429InHtmlWaitsAMinute) {
  api.answers = {{.status = 429, .body = "<html>slow down</html>"}, {.status = 200, .body = "{}"}};
  EXPECT_TRUE(std::holds_alternative<CallResult>(call(get)));
  EXPECT_EQ(watch.waits, std::vector<Millis>{Millis{65'000}});
}

TEST_F(BrokerTest, AWaitThatDoesNotFitBeforeTheWallIsNotBegun) {
  watch.wall_at = clock.mono_now() + Millis{30'000};
  api.answers = {limited("30")};
  const CallError error = error_of(get);
  EXPECT_EQ(error.message, "rate limited: waiting 35s does not fit before the wall: RL02");
  EXPECT_TRUE(watch.waits.empty());
  EXPECT_TRUE(gates.standing.has_value());
}

TEST_F(BrokerTest, A429OnAPostIsSentAgainBecauseItWasRefused) {
  api.answers = {limited("1"), {.status = 200, .body = "{}"}};
  EXPECT_TRUE(std::holds_alternative<CallResult>(call(post)));
  EXPECT_EQ(api.sent.size(), 2U);
  EXPECT_EQ(broker.sent(), (std::vector<std::string>{"POST /cards: 429", "POST /cards: 200"}));
}

// ---- the key's gate

TEST_F(BrokerTest, ACallWaitsForItsKeysGateFirst) {
  const UtcTime now = clock.utc_now();
  gates.standing = Gate{ApiKeyHash{"k"}, now + Millis{40'000}, now, now, std::nullopt};
  EXPECT_TRUE(std::holds_alternative<CallResult>(call(get)));
  ASSERT_EQ(api.sent.size(), 1U);
  EXPECT_EQ(api.sent[0].at, now + Millis{40'000});
}

TEST_F(BrokerTest, AGateClosedForLongIsRaisedAtOnceAndNothingIsSent) {
  const UtcTime now = clock.utc_now();
  gates.standing = Gate{ApiKeyHash{"k"}, now + Millis{105'000}, now, now, std::nullopt};
  const CallError error = error_of(post);
  EXPECT_EQ(error.status, 429);
  EXPECT_TRUE(error.message.ends_with("not sent")) << error.message;
  EXPECT_TRUE(api.sent.empty());
  EXPECT_TRUE(broker.sent().empty());
}

TEST_F(BrokerTest, AGateThatOpensAfterTheWallIsNotWaitedFor) {
  watch.wall_at = clock.mono_now() + Millis{10'000};
  const UtcTime now = clock.utc_now();
  gates.standing = Gate{ApiKeyHash{"k"}, now + Millis{20'000}, now, now, std::nullopt};
  const std::string message = error_of(get).message;
  EXPECT_NE(message.find("does not fit before the wall"), std::string::npos) << message;
  EXPECT_TRUE(api.sent.empty());
}

TEST_F(BrokerTest, AGateStoreThatIsAwayIsAnOpenGate) {
  gates.broken = true;
  api.answers = {limited("5"), {.status = 200, .body = "{}"}};
  EXPECT_TRUE(std::holds_alternative<CallResult>(call(get)));
  EXPECT_TRUE(events.has("gate_error"));
}

// ---- quota headers

TEST_F(BrokerTest, AnAnswerThatLeavesNothingOfTheMinuteGatesTheKeyBeforeAnybodyMeetsA429) {
  api.answers = {{.status = 200, .body = "{}", .remaining = 0}, {.status = 200, .body = "{}"}};
  call(post);
  ASSERT_TRUE(gates.standing.has_value());
  const UtcTime answered = clock.utc_now();
  EXPECT_EQ(gates.standing->until, answered + Millis{60'000}) << "nothing tells its phase";
  EXPECT_EQ(gates.standing->status, 200);
  call(post);
  EXPECT_EQ(api.sent.back().at, answered + Millis{60'000}) << "its own next call waits too";
}

TEST_F(BrokerTest, TheLast429TellsWhenTheSpentMinuteEnds) {
  api.answers = {limited("10"), {.status = 200, .body = "{}", .remaining = 0}};
  call(get);
  EXPECT_EQ(gates.standing->until, *gates.standing->limited_at + Millis{70'000});
  EXPECT_EQ(gates.standing->hint, Millis{10'000}) << "kept for the next one";
}

TEST_F(BrokerTest, ACallThatIsLeftGatesNothing) {
  api.answers = {{.status = 200, .body = "{}", .remaining = 1}};
  call(get);
  EXPECT_FALSE(gates.standing.has_value());
}

// ---- 401, 5xx, no answer

TEST_F(BrokerTest, AMethodLimitWaitsAMinuteAndGatesNothing) {
  const ApiAnswer limit{.status = 401, .body = "API limit reached for this method"};
  api.answers = {limit, limit, limit};
  EXPECT_EQ(error_of(post).message, "API limit reached for this method after 3 attempts");
  EXPECT_EQ(watch.waits, (std::vector<Millis>{Millis{60'000}, Millis{60'000}}));
  EXPECT_FALSE(gates.standing.has_value());
}

TEST_F(BrokerTest, ABadKeyIsNotAMethodLimit) {
  api.answers = {{.status = 401, .body = R"({"error":{"code":"A1","message":"Unauthorized"}})"}};
  EXPECT_EQ(error_of(get), (CallError{401, "A1", "API answered 401: A1 Unauthorized"}));
  EXPECT_EQ(api.sent.size(), 1U);
}

TEST_F(BrokerTest, AGetWithoutAnAnswerIsSentThreeTimesInAll) {
  api.answers = {nothing(), {.status = 502, .body = ""}, nothing()};
  EXPECT_EQ(error_of(get),
            (CallError{std::nullopt, std::nullopt,
                       "no answer from the API after 3 attempts (Connection reset)"}));
  EXPECT_EQ(api.sent.size(), 3U);
}

TEST_F(BrokerTest, WhatMayHaveTakenEffectIsNeverSentAgain) {
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
    api.sent.clear();
    api.answers = {nothing(), {.status = 200, .body = "{}"}};
    EXPECT_NE(error_of({method, "/cards/1", "{}"}).message.find("not re-sent"), std::string::npos);
    EXPECT_EQ(api.sent.size(), 1U) << method;
    api.sent.clear();
    api.answers = {{.status = 500, .body = ""}, {.status = 200, .body = "{}"}};
    EXPECT_NE(error_of({method, "/cards/1", "{}"}).message.find("not re-sent"), std::string::npos);
    EXPECT_EQ(api.sent.size(), 1U) << method;
  }
}

TEST_F(BrokerTest, AnAnswerBeyondTheCapIsNotAskedForAgain) {
  api.answers = {{.status = 200, .is_too_large = true}};
  EXPECT_EQ(error_of(get).message, "the API's answer is too large");
  EXPECT_EQ(api.sent.size(), 1U);
}

// ---- the durable line

TEST_F(BrokerTest, AnErrorsStatusCountsHoweverLongItsBodyIs) {
  api.answers = {{.status = 429, .retry_after = {"200"}, .is_too_large = true}};
  EXPECT_EQ(error_of(get).status, 429);
  ASSERT_TRUE(gates.standing);
  EXPECT_EQ(gates.standing->hint, Millis{200'000});
  gates.standing.reset();
  api.answers = {{.status = 503, .is_too_large = true}, {.status = 200, .body = "{}"}};
  EXPECT_TRUE(std::holds_alternative<CallResult>(call(get)));
}

TEST_F(BrokerTest, ARunSendsNoMoreChangesThanItsEndCanName) {
  for (int sent = 0; sent < limits::kMaxChangesPerRun; ++sent) call(post);
  EXPECT_EQ(api.sent.size(), static_cast<std::size_t>(limits::kMaxChangesPerRun));
  EXPECT_NE(error_of(post).message.find("not sent"), std::string::npos);
  EXPECT_EQ(api.sent.size(), static_cast<std::size_t>(limits::kMaxChangesPerRun));
  EXPECT_EQ(broker.sent().size(), static_cast<std::size_t>(limits::kMaxChangesPerRun));
  EXPECT_TRUE(std::holds_alternative<CallResult>(call(get))) << "a GET changes nothing";
}

TEST_F(BrokerTest, TheLogOfARunsChangesIsBoundedInBytesToo) {
  const std::string path = "/a?" + std::string(8'000, 'x');
  int sent = 0;
  while (sent < 5'000 && std::holds_alternative<CallResult>(call({"DELETE", path, {}}))) ++sent;
  EXPECT_GT(sent, 100);
  EXPECT_LT(sent, 600);
}

TEST_F(BrokerTest, AChangeIsAnnouncedDurablyBeforeItIsSent) {
  EXPECT_TRUE(std::holds_alternative<CallResult>(call(post)));
  ASSERT_EQ(ledger.lines.size(), 1U) << "durable before the answer is";
  EXPECT_EQ(ledger.lines[0].message, "sending POST /cards");
  EXPECT_EQ(*ledger.lines[0].call,
            (ApiCall{"POST", "/cards", std::nullopt, Millis{0}, 1, std::nullopt}));
  EXPECT_EQ(log_lines(), (std::vector<std::string>{"sending POST /cards", "POST /cards: 200"}));
}

TEST_F(BrokerTest, WithoutItsLineAChangeWaitsForTheStore) {
  ledger.away_for = 3;
  EXPECT_TRUE(std::holds_alternative<CallResult>(call(post)));
  EXPECT_EQ(watch.waits, (std::vector<Millis>{Millis{200}, Millis{400}, Millis{800}}));
  EXPECT_EQ(api.sent.size(), 1U);
}

TEST_F(BrokerTest, WithoutItsLineAChangeIsNotSentAtAll) {
  ledger.away_for = 1'000'000;
  watch.wall_at = clock.mono_now() + Millis{60'000};
  const CallError error = error_of(post);
  EXPECT_TRUE(error.message.starts_with("not sent: ")) << error.message;
  EXPECT_TRUE(api.sent.empty());
  EXPECT_TRUE(broker.sent().empty());
}

TEST_F(BrokerTest, ALineThatWasNeverKeptIsNotWrittenLater) {
  ledger.away_for = 1;
  watch.stop_at = clock.mono_now();
  EXPECT_EQ(end_of(post), RunEnd::stop);
  EXPECT_TRUE(log_lines().empty()) << "nothing was sent";
}

TEST_F(BrokerTest, ARunWhoseRowSomebodyElseHasEndedSendsNothing) {
  ledger.still_ours_for = 1;
  EXPECT_TRUE(std::holds_alternative<CallResult>(call(post)));
  EXPECT_EQ(end_of(post), RunEnd::fenced);
  EXPECT_EQ(api.sent.size(), 1U);
  EXPECT_EQ(broker.sent(), std::vector<std::string>{"POST /cards: 200"});
  EXPECT_EQ(log_lines(), (std::vector<std::string>{
                             "sending POST /cards", "POST /cards: 200",
                             "not sent, the row had been ended by somebody else: POST /cards"}));
}

TEST_F(BrokerTest, AResendIsFencedToo) {
  api.answers = {limited("10")};
  ledger.still_ours_for = 1;
  EXPECT_EQ(end_of(post), RunEnd::fenced);
  EXPECT_EQ(api.sent.size(), 1U);
  EXPECT_EQ(broker.sent(), std::vector<std::string>{"POST /cards: 429"});
}

TEST_F(BrokerTest, WhereNoCallCanBeMadeNothingIsAnnouncedOrSent) {
  api.unusable = "the API key can not be opened";
  EXPECT_EQ(error_of(post).message, "not sent: the API key can not be opened");
  EXPECT_TRUE(api.sent.empty());
  EXPECT_TRUE(broker.sent().empty());
}

TEST_F(BrokerTest, AGetNeedsNoLineInAdvance) {
  ledger.away_for = 1'000'000;
  EXPECT_TRUE(std::holds_alternative<CallResult>(call(get)));
  EXPECT_EQ(api.sent.size(), 1U);
}

// ---- ends

TEST_F(BrokerTest, AStopEndsAWait) {
  api.answers = {limited("60")};
  watch.stop_at = clock.mono_now() + Millis{10'000};
  EXPECT_EQ(end_of(get), RunEnd::stop);
  EXPECT_EQ(api.sent.size(), 1U);
}

TEST_F(BrokerTest, AnEndDuringAnAttemptDropsItAndTheChangeIsOnTheList) {
  api.answers = {{.ended = RunEnd::wall}};
  EXPECT_EQ(end_of(post), RunEnd::wall);
  EXPECT_EQ(broker.sent(), std::vector<std::string>{"POST /cards: no answer"});
}

TEST_F(BrokerTest, AnAttemptsTimeIsClippedToTheWall) {
  watch.wall_at = clock.mono_now() + Millis{10'000};
  call(get);
  EXPECT_EQ(api.sent.at(0).request.until, watch.wall_at);
  watch.wall_at = clock.mono_now() + Millis{250'000};
  const MonoTime now = clock.mono_now();
  call(get);
  EXPECT_EQ(api.sent.at(1).request.until, now + limits::kApiTimeout);
}

// ---- what is refused before anything is sent

TEST_F(BrokerTest, APathThatLeavesTheAccountIsRefused) {
  for (const char* path : {"",
                           "boards",
                           "//evil.example/x",
                           "http://evil.example",
                           "/../v1",
                           "/a/..",
                           "/a/%2e%2E/b",
                           "/a/./b",
                           "/a b",
                           "/a\r\nHost: x",
                           "/a\\b",
                           "/a#b",
                           "/\xff",
                           "/..%2f..%2fother",
                           "/%2e%2e%2fx",
                           "/a/..%5c..%5cx",
                           "/..;/x",
                           "/a/..;v=1/x",
                           "/%252e%252e/x",
                           "/%25252e%25252e/x",
                           "/.%00./x",
                           "/..%c0%af",
                           "/a%0d%0aHost:x"})
    EXPECT_FALSE(error_of({"POST", path, "{}"}).message.empty()) << path;
  EXPECT_TRUE(api.sent.empty());
  EXPECT_TRUE(broker.sent().empty());
  EXPECT_TRUE(ledger.lines.empty());
}

TEST_F(BrokerTest, AnOrdinaryPathIsNot) {
  for (const char* path :
       {"/cards?board_ids=1,2&x=%20", "/a..b/..c", "/x?q=../..", "/x?q=%2e%2e%2f", "/@me", "/a:80",
        "/caf%C3%A9", "/100%25", "/a%2Fb", "/a;v=1/b", "/a%"})
    EXPECT_TRUE(std::holds_alternative<CallResult>(call({"GET", path, std::nullopt}))) << path;
}

TEST_F(BrokerTest, AnUnknownMethodIsRefused) {
  EXPECT_EQ(error_of({"TRACE", "/x", std::nullopt}).message, "no such method");
  EXPECT_TRUE(api.sent.empty());
}

TEST_F(BrokerTest, DebugKeepsTheAnswers) {
  BrokerTask debug = task();
  debug.keep_answers = true;
  Broker talkative{{api, gates, log, watch, clock, events}, debug};
  api.answers = {{.status = 200, .body = R"({"data":1})"}};
  talkative.call(get);
  EXPECT_EQ(log_lines(), (std::vector<std::string>{"GET /boards: 200", R"({"data":1})"}));
  EXPECT_EQ(ledger.lines.at(1).level, "debug");
}

}  // namespace
}  // namespace coderunner::executor
