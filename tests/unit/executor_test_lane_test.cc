// What serve and a worker of the test lane say to each other, and what serve makes of it.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>
#include <thread>

#include "domain/limits.h"
#include "executor/channel.h"
#include "executor/frame.h"
#include "executor/test_call.h"
#include "tests/support/fakes.h"

namespace coderunner::executor {
namespace {

TestRequest request() {
  return {"acme",       "key", ApiKeyHash{"hash"}, "log(1)", std::string{"{\"a\":1}"},
          std::nullopt, true};
}

LogLine line(const std::string& message) {
  return {{}, utc_from_epoch_ms(1'700'000'000'123), "info", message, std::nullopt};
}

LogLine sending(const std::string& path) {
  LogLine made = line("sending POST " + path);
  made.call = ApiCall{"POST", path, std::nullopt, Millis{0}, 1, std::nullopt};
  return made;
}

FromTest through_json(const FromTest& said) {
  return parse_from_test(from_test_json(said)).value_or(FromTest{TestRefused{"not understood"}});
}

TEST(TestProtocol, WhatIsSaidIsUnderstood) {
  EXPECT_EQ(parse_test_request(test_request_json(request())).value_or(TestRequest{}), request());
  LogLine answered = sending("/cards");
  answered.call->status = 200;
  answered.call->duration = Millis{7};
  answered.call->attempt = 2;
  answered.call->remaining = 3;
  for (const FromTest& said :
       {FromTest{TestStarted{}}, FromTest{TestRefused{"full"}},
        FromTest{line("one\xF0\x9F\x90\x9D")}, FromTest{sending("/cards")}, FromTest{answered},
        FromTest{Outcome{}}, FromTest{Outcome{ErrorCode::fatal, "memory"}}})
    EXPECT_EQ(through_json(said), said);
}

TEST(TestProtocol, AnythingElseIsCorrupt) {
  for (const char* text :
       {"", "{", "[]", "7", R"({"say":"end"})", R"({"say":"dance"})", R"({"say":5})",
        R"({"say":"end","message":"x","code":999})", R"({"say":"line","at":"now"})",
        R"({"say":"line","at":1,"level":"info","message":"m","call":5})"})
    EXPECT_FALSE(parse_from_test(text)) << text;
  EXPECT_FALSE(parse_test_request(R"({"account":"acme"})"));
}

// A worker that says what it is given, then hangs up, whoever asks.
class TestCallTest : public ::testing::Test {
 protected:
  std::variant<TestReport, TestRefused> call_worker_that_says(const std::vector<FromTest>& said) {
    auto ends = make_byte_stream();
    EXPECT_TRUE(ends);
    std::thread worker{[&said, socket = std::move(ends->second)] {
      read_frame(socket.get());
      for (const FromTest& one : said)
        if (!write_frame(socket.get(), from_test_json(one))) return;
    }};
    auto answer = hold({std::move(ends->first), {}, limits::kTestWall});
    worker.join();
    return answer;
  }
  std::variant<TestReport, TestRefused> hold(TestCall call) {
    return hold_test(std::move(call), request(), clock_);
  }

 private:
  fakes::TurnedClock clock_;
};

TEST_F(TestCallTest, TheLinesComeInOrderWithTheOutcome) {
  const auto answer = call_worker_that_says(
      {TestStarted{}, line("one"), line("two"), Outcome{ErrorCode::script_error, "no"}});
  const auto& report = std::get<TestReport>(answer);
  EXPECT_EQ(report.outcome, (Outcome{ErrorCode::script_error, "no"}));
  EXPECT_EQ(report.logs, (std::vector<LogLine>{line("one"), line("two")}));
}

TEST_F(TestCallTest, ADeathBeforeTheScriptStartedRanNothing) {
  EXPECT_TRUE(std::holds_alternative<TestRefused>(call_worker_that_says({})));
}

TEST_F(TestCallTest, ADeathAfterItNamesWhatHadBeenSent) {
  const auto answer = call_worker_that_says({TestStarted{}, sending("/cards")});
  const auto& report = std::get<TestReport>(answer);
  EXPECT_EQ(report.outcome.code, ErrorCode::ended_from_outside);
  EXPECT_EQ(
      report.outcome.message,
      "lost: the executor's worker of this run has died; it had sent 1: POST /cards: no answer");
}

TEST_F(TestCallTest, WhatIsNotUnderstoodEndsTheRun) {
  auto ends = make_byte_stream();
  ASSERT_TRUE(ends);
  std::thread worker{[socket = std::move(ends->second)] {
    read_frame(socket.get());
    write_frame(socket.get(), from_test_json(TestStarted{}));
    write_frame(socket.get(), "nonsense");
    read_frame(socket.get());  // until the other end closes
  }};
  const auto answer = hold({std::move(ends->first), {}, limits::kTestWall});
  worker.join();
  EXPECT_EQ(std::get<TestReport>(answer).outcome.code, ErrorCode::ended_from_outside);
}

TEST_F(TestCallTest, TheAnswersLogIsBounded) {
  std::vector<FromTest> said{TestStarted{}};
  const std::string text(limits::kMaxLogLineBytes, 'x');
  for (std::size_t i = 0; i < limits::kMaxTestLogBytes / text.size() + 10; ++i)
    said.emplace_back(line(text));
  said.emplace_back(Outcome{});
  const auto answer = call_worker_that_says(said);
  const auto& report = std::get<TestReport>(answer);
  EXPECT_FALSE(report.outcome.code);
  EXPECT_EQ(report.logs.back().message, "the answer's log is cut here");
  EXPECT_LE(report.logs.size(), limits::kMaxTestLogBytes / text.size() + 1);
}

TEST_F(TestCallTest, WhatHadBeenSentIsSaidWholeThoughTheLogIsCut) {
  std::vector<FromTest> said{TestStarted{}};
  const std::string text(limits::kMaxLogLineBytes, 'x');
  for (std::size_t i = 0; i < limits::kMaxTestLogBytes / text.size() + 1; ++i)
    said.emplace_back(line(text));
  said.emplace_back(sending("/late"));
  const auto answer = call_worker_that_says(said);
  EXPECT_NE(std::get<TestReport>(answer).outcome.message.find("it had sent 1: POST /late"),
            std::string::npos);
}

TEST_F(TestCallTest, AClientThatHasGoneEndsIt) {
  auto lane = make_byte_stream(), client = make_byte_stream();
  ASSERT_TRUE(lane && client);
  client->first.close();
  const auto answer = hold({std::move(lane->first), std::move(client->second), limits::kTestWall});
  EXPECT_TRUE(std::holds_alternative<TestRefused>(answer));
  // Its end of the lane is closed: the worker sees it behind the request.
  EXPECT_TRUE(read_frame(lane->second.get()));
  EXPECT_FALSE(read_frame(lane->second.get()));
}

}  // namespace
}  // namespace coderunner::executor
