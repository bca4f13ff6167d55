#include <gtest/gtest.h>

#include "services/admission.h"
#include "sim/memory_store.h"
#include "tests/support/fakes.h"

namespace coderunner {
namespace {

using namespace std::chrono_literals;

class SaysBad final : public ScriptCheck {
 public:
  std::optional<SyntaxError> check(std::string_view source) const override {
    if (source.starts_with("bad")) return SyntaxError{3, "unexpected symbol near 'bad'"};
    return std::nullopt;
  }
};

class AdmissionTest : public ::testing::Test {
 protected:
  AdmissionAnswer submit(std::string source, std::string account = "Acme") {
    AdmissionAnswer answer = fail(Failure::internal, "never called");
    admission_.submit({.account = std::move(account),
                       .apikey = "k3y",
                       .source = std::move(source),
                       .payload = R"({"a":1})"},
                      [&](AdmissionAnswer given) { answer = std::move(given); });
    return answer;
  }

  MemoryStore store_;
  SaysBad check_;
  fakes::PlainSecrets secrets_;
  fakes::CountingEntropy entropy_;
  fakes::TurnedClock clock_;
  int wakes_ = 0;
  Admission admission_{{store_, check_, secrets_, entropy_, clock_}, [this] { ++wakes_; }};
};

TEST_F(AdmissionTest, QueuesARowWithHashesAndASealedKeyAndWakesTheDrainer) {
  const auto admitted = std::get<Admitted>(submit("return"));
  const Execution row = **store_.execution(admitted.execution);
  EXPECT_EQ(row.state(), State::queued);
  EXPECT_EQ(row.account, "acme");
  EXPECT_EQ(row.account_id, secrets_.account_id("acme"));
  EXPECT_EQ(row.key, secrets_.api_key_hash("k3y"));
  EXPECT_EQ(store_.sealed_key(admitted.job), "sealed:k3y");
  EXPECT_EQ((**store_.text(admitted.execution)).payload, R"({"a":1})");
  EXPECT_EQ(wakes_, 1);
}

TEST_F(AdmissionTest, KeepsAScriptThatDoesNotParseAsAVisibleRow) {
  const auto refused = std::get<Unparsable>(submit("bad" + std::string(40'000, 'x')));
  EXPECT_EQ(refused.error.line, 3);
  const Execution row = **store_.execution(refused.execution);
  EXPECT_EQ(row.state(), State::invalid);
  EXPECT_EQ(row.error_code, 201);
  EXPECT_EQ((**store_.text(refused.execution)).source->size(), 16U * 1024U);
  EXPECT_EQ(wakes_, 0);
}

TEST_F(AdmissionTest, KeepsNothingOfABadField) {
  EXPECT_EQ(std::get<FieldError>(submit("return", "x.evil/")).field, "account");
  EXPECT_TRUE((*store_.executions({})).empty());
}

TEST_F(AdmissionTest, SaysSoWhenTheStoreCanNotKeepIt) {
  store_.fail_with(Error{Failure::unavailable, "away"});
  EXPECT_EQ(std::get<Error>(submit("return")).kind, Failure::unavailable);
  EXPECT_EQ(wakes_, 0);
}

TEST_F(AdmissionTest, NeverIssuesAnEarlierQueuedAtAfterTheClockWasStepped) {
  const auto first = std::get<Admitted>(submit("return"));
  clock_.step_utc(-1h);
  const auto second = std::get<Admitted>(submit("return"));
  EXPECT_EQ((**store_.execution(second.execution)).queued_at,
            (**store_.execution(first.execution)).queued_at);
}

}  // namespace
}  // namespace coderunner
