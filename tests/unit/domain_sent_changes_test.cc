#include <gtest/gtest.h>

#include "domain/sent_changes.h"

namespace coderunner {
namespace {

using Changes = std::vector<std::string>;

LogLine said(const std::string& message) {
  LogLine line;
  line.message = message;
  return line;
}

LogLine call(const std::string& method, const std::string& path, std::optional<int> status = {},
             int attempt = 1) {
  LogLine line;
  line.call = ApiCall{method, path, status, Millis{0}, attempt, std::nullopt};
  return line;
}

TEST(SentChanges, AreTheCallsThatAreNoGetsWithTheirResults) {
  EXPECT_EQ(sent_changes({call("GET", "/cards", 200), said("hello"), call("POST", "/cards"),
                          call("POST", "/cards", 200), call("GET", "/cards"),
                          call("DELETE", "/cards/7"), call("DELETE", "/cards/7", 404)}),
            (Changes{"POST /cards: 200", "DELETE /cards/7: 404"}));
}

TEST(SentChanges, ACallWithoutAResultLineMayHaveTakenEffect) {
  EXPECT_EQ(sent_changes(
                {call("POST", "/cards"), call("POST", "/cards", 200), call("PATCH", "/cards/7")}),
            (Changes{"POST /cards: 200", "PATCH /cards/7: no answer"}));
}

TEST(SentChanges, AResultWithoutAnAnswerIsNoSecondCall) {
  EXPECT_EQ(sent_changes({call("POST", "/cards"), call("POST", "/cards"), call("POST", "/cards"),
                          call("POST", "/cards", 200)}),
            (Changes{"POST /cards: no answer", "POST /cards: 200"}));
}

TEST(SentChanges, EachAttemptIsListed) {
  EXPECT_EQ(sent_changes({call("POST", "/cards"), call("POST", "/cards", 429),
                          call("POST", "/cards", {}, 2), call("POST", "/cards", 200, 2)}),
            (Changes{"POST /cards: 429", "POST /cards: 200"}));
}

TEST(SentChanges, AnotherCallIsNoResultOfTheOneBefore) {
  EXPECT_EQ(
      sent_changes(
          {call("POST", "/cards"), call("POST", "/boards"), call("POST", "/cards", {}, 2)}),
      (Changes{"POST /cards: no answer", "POST /boards: no answer", "POST /cards: no answer"}));
}

TEST(EndFromOutside, SaysWhatHadBeenSent) {
  EXPECT_EQ(ended_from_outside("wall", {}), "wall; it had sent no change");
  EXPECT_EQ(ended_from_outside("wall", {"POST /cards: 200", "PUT /x: no answer"}),
            "wall; it had sent 2: POST /cards: 200, PUT /x: no answer");
}

TEST(EndFromOutside, AReapedRowIsKnownByItsMessageAndItsCode) {
  const std::string message = reaped("the executor died", {"POST /cards: 200"});
  EXPECT_EQ(message, "reaped: the executor died; it had sent 1: POST /cards: 200");
  EXPECT_TRUE(was_reaped(303, message));
  EXPECT_FALSE(was_reaped(301, message)) << "a script may raise what it likes";
  EXPECT_FALSE(was_reaped(std::nullopt, message));
  EXPECT_FALSE(was_reaped(303, ended_from_outside("wall", {})));
}

TEST(ExecutorPlace, IsTheHostAndThePid) {
  EXPECT_EQ(executor_place(ExecutorId{"vm|f7ca-01|4026531836|1955|141890"}), "vm, pid 1955");
  for (const char* other : {"", "vm", "vm|1|2|3", "vm|1|2|3|4|5"})
    EXPECT_EQ(executor_place(ExecutorId{other}), other);
}

}  // namespace
}  // namespace coderunner
