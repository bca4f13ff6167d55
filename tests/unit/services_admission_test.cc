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
  AdmissionAnswer submit(std::string source, std::string account = "Acme",
                         std::optional<std::string> idempotency_key = {}) {
    AdmissionAnswer answer = fail(Failure::internal, "never called");
    admission_.submit({.account = std::move(account),
                       .apikey = "k3y",
                       .source = std::move(source),
                       .identifier = "card-moved",
                       .payload = R"({"a":1})",
                       .idempotency_key = std::move(idempotency_key)},
                      [&](AdmissionAnswer given) { answer = std::move(given); });
    return answer;
  }

  MemoryStore store_;
  SaysBad check_;
  fakes::PlainSecrets secrets_;
  fakes::CountingEntropy entropy_;
  fakes::TurnedClock clock_;
  int wakes_ = 0;
  Admission admission_{{store_, check_, secrets_, entropy_, clock_, {.per_account = 2, .all = 3}},
                       [this] { ++wakes_; }};
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

// R83
TEST_F(AdmissionTest, RejectsBeyondAnAccountsCapWithAVisibleRowThatSaysBothNumbers) {
  submit("return");
  submit("return");
  const auto rejected = std::get<Rejected>(submit("return"));
  EXPECT_EQ(rejected.full, TooDeep::Of::account);
  EXPECT_EQ(rejected.message, "this account has 2 executions queued, and the cap is 2");
  const Execution row = **store_.execution(rejected.execution);
  EXPECT_EQ(row.state(), State::rejected);
  EXPECT_EQ(row.error_message, rejected.message);
  EXPECT_EQ(row.account, "acme");
  EXPECT_EQ(row.identifier, "card-moved");
  EXPECT_EQ(row.job, std::nullopt);
  EXPECT_EQ((**store_.text(rejected.execution)).source, std::nullopt);
  EXPECT_EQ(wakes_, 2);
}

// R83
TEST_F(AdmissionTest, RejectsBeyondTheCapOfAll) {
  for (const auto* account : {"a", "b", "c"}) submit("return", account);
  const auto rejected = std::get<Rejected>(submit("return", "d"));
  EXPECT_EQ(rejected.full, TooDeep::Of::all);
  EXPECT_EQ(rejected.message, "3 executions are queued in all, and the cap is 3");
}

TEST_F(AdmissionTest, SaysThatThereAreMoreWhereACapWasLowered) {
  for (const auto* account : {"a", "b", "c"}) submit("return", account);
  Admission lowered{{store_, check_, secrets_, entropy_, clock_, {.per_account = 2, .all = 1}},
                    [] {}};
  std::string message;
  lowered.submit({.account = "d", .apikey = "k", .source = "return"},
                 [&](const auto& answer) { message = std::get<Rejected>(answer).message; });
  EXPECT_EQ(message, "more than 1 executions are queued in all, and the cap is 1");
}

TEST_F(AdmissionTest, AnswersARepeatedRequestWithTheFirstAdmission) {
  const auto first = std::get<Admitted>(submit("return", "acme", "once"));
  clock_.advance(23h);
  EXPECT_EQ(std::get<Repeated>(submit("return", "ACME", "once")),
            (Repeated{first, Status::queued}));
  EXPECT_EQ(std::get<KeyReused>(submit("return 2", "acme", "once")), KeyReused{first.execution});
  EXPECT_EQ(wakes_, 1);
  clock_.advance(2h);
  EXPECT_NE(std::get<Admitted>(submit("return", "acme", "once")), first);
}

TEST_F(AdmissionTest, ARefusalDoesNotUseItsIdempotencyKeyUp) {
  std::get<Unparsable>(submit("bad", "acme", "once"));
  submit("return 1");
  submit("return 2");
  std::get<Rejected>(submit("return", "acme", "once"));
  ASSERT_TRUE(*store_.end_undispatched({2}, "makes room", clock_.utc_now()));
  EXPECT_TRUE(std::holds_alternative<Admitted>(submit("return", "acme", "once")));
}

TEST_F(AdmissionTest, SaysSoWhenTheStoreCanNotKeepARejection) {
  submit("return");
  submit("return");
  AdmissionAnswer answer = fail(Failure::internal, "never called");
  // away from the second call on
  class Halfway final : public AdmissionStore {
   public:
    explicit Halfway(MemoryStore& real) : real_(real) {}
    void admit(NewExecution fresh, AdmitDone done) override {
      real_.admit(std::move(fresh), std::move(done));
    }
    void refuse(NewRefusal, RefuseDone done) override { done(fail(Failure::unavailable, "away")); }

   private:
    MemoryStore& real_;
  } store{store_};
  Admission admission{{store, check_, secrets_, entropy_, clock_, {.per_account = 2, .all = 3}},
                      [] {}};
  admission.submit({.account = "acme", .apikey = "k", .source = "return"},
                   [&](AdmissionAnswer given) { answer = std::move(given); });
  EXPECT_EQ(std::get<Error>(answer).kind, Failure::unavailable);
}

}  // namespace
}  // namespace coderunner
