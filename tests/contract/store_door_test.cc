// What the store answers at the door: the depth caps, the Idempotency-Key, and how refusals are
// kept.
#include <algorithm>
#include <vector>

#include "tests/contract/backend.h"
#include "tests/contract/sqlite_files.h"

namespace coderunner::contract {
namespace {

using namespace std::chrono_literals;

class StoreDoor : public StoreContract {
 protected:
  NewExecution capped(const std::string& account, DepthCaps caps) {
    NewExecution fresh = StoreContract::fresh(account, "key-of-" + account, Millis{0});
    fresh.caps = caps;
    return fresh;
  }
  NewExecution keyed(const std::string& account, const std::string& key, const std::string& request,
                     Millis after_noon = Millis{0}) {
    NewExecution fresh = StoreContract::fresh(account, "key-of-" + account, after_noon);
    fresh.idempotency = Idempotency{key, {request}, fresh.queued_at - 24h};
    return fresh;
  }
  AdmitAnswer answer(NewExecution fresh) { return *answer_of_admit(store->admission(), fresh); }

  // All are handed over before one is answered.
  std::vector<AdmitAnswer> at_once(const std::vector<NewExecution>& many) {
    std::vector<std::future<AdmitAnswer>> answers;
    for (const NewExecution& fresh : many) {
      auto answered = std::make_shared<std::promise<AdmitAnswer>>();
      answers.push_back(answered->get_future());
      store->admission().admit(
          fresh, [answered](const Result<AdmitAnswer>& given) { answered->set_value(*given); });
    }
    std::vector<AdmitAnswer> given;
    for (auto& one : answers) given.push_back(one.get());
    return given;
  }
  static long admitted(const std::vector<AdmitAnswer>& answers) {
    return std::ranges::count_if(
        answers, [](const auto& one) { return std::holds_alternative<Admitted>(one); });
  }

  NewRefusal refusal(const std::string& account, ErrorCode code, Millis after_noon = Millis{0}) {
    NewRefusal refusal;
    refusal.account = account;
    refusal.account_id = {account};
    refusal.identifier = "mine";
    refusal.source = "if then";
    refusal.code = code;
    refusal.message = "its own message";
    refusal.at = kNoon + after_noon;
    refusal.bounds = {.per_account = 3, .all = 5};
    return refusal;
  }
  ExecutionId refuse(const NewRefusal& refusal) {
    return *refuse_and_wait(store->admission(), refusal);
  }
  std::size_t rows_of(const std::string& account) {
    return store->view().executions({.account = AccountId{account}})->size();
  }
};

// ---- caps

// R47
TEST_P(StoreDoor, AnAccountAtItsCapIsTooDeepAndAnotherOneIsAdmitted) {
  const DepthCaps caps{.per_account = 2, .all = 10};
  answer(capped("acme", caps));
  answer(capped("acme", caps));
  EXPECT_EQ(answer(capped("acme", caps)), (AdmitAnswer{TooDeep{TooDeep::Of::account, 2, 2}}));
  EXPECT_TRUE(std::holds_alternative<Admitted>(answer(capped("beta", caps))));
  EXPECT_EQ(rows_of("acme"), 2U) << "what is too deep leaves nothing";
}

TEST_P(StoreDoor, TheCapOfAllCountsEveryAccountsRowsAndThoseOfOtherPrograms) {
  const DepthCaps caps{.per_account = 3, .all = 4};
  answer(capped("acme", caps));
  answer(capped("acme", caps));
  answer(capped("beta", caps));
  store->plant({.queued_at = kNoon});  // an old writer's, without an account
  EXPECT_EQ(answer(capped("gamma", caps)), (AdmitAnswer{TooDeep{TooDeep::Of::all, 4, 4}}));
  answer(capped("acme", {.per_account = 3, .all = 10}));
  EXPECT_EQ(answer(capped("acme", caps)), (AdmitAnswer{TooDeep{TooDeep::Of::account, 3, 3}}))
      << "its own cap is what it can do something about";
}

TEST_P(StoreDoor, OnlyWhatIsQueuedCounts) {
  const DepthCaps caps{.per_account = 1, .all = 1};
  const Admitted first = run("acme", "r1");
  EXPECT_TRUE(std::holds_alternative<Admitted>(answer(capped("acme", caps)))) << "one is running";
  EXPECT_FALSE(std::holds_alternative<Admitted>(answer(capped("acme", caps))));
  ASSERT_EQ(*store->ledger().finish(first.execution, {"r1"}, {}, kNoon), FinishAnswer::finished);
  EXPECT_FALSE(std::holds_alternative<Admitted>(answer(capped("acme", caps))));
}

TEST_P(StoreDoor, BeyondALoweredCapItSaysThatThereAreMore) {
  for (int i = 0; i < 5; ++i) admit("acme", "k");
  EXPECT_EQ(answer(capped("acme", {.per_account = 2, .all = 100})),
            (AdmitAnswer{TooDeep{TooDeep::Of::account, 3, 2}}));
  EXPECT_EQ(answer(capped("beta", {.per_account = 2, .all = 2})),
            (AdmitAnswer{TooDeep{TooDeep::Of::all, 3, 2}}));
  EXPECT_EQ(answer(capped("beta", {.per_account = 4, .all = 2})),
            (AdmitAnswer{TooDeep{TooDeep::Of::all, 3, 2}}));
}

// R14
TEST_P(StoreDoor, Of64AtOnceOneBelowTheCapExactlyOneIsAdmitted) {
  for (int i = 0; i < 9; ++i) admit("acme", "k");
  std::vector<NewExecution> many;
  for (int i = 0; i < 64; ++i) many.push_back(capped("acme", {.per_account = 10, .all = 100}));
  EXPECT_EQ(admitted(at_once(many)), 1);
  many.clear();
  for (int i = 0; i < 64; ++i)
    many.push_back(capped("b" + std::to_string(i), {.per_account = 10, .all = 11}));
  EXPECT_EQ(admitted(at_once(many)), 1);
  EXPECT_EQ(store->view().figures()->lanes.size(), 3U);
}

// ---- Idempotency-Key

TEST_P(StoreDoor, TheSameKeyAndRequestAgainIsTheFirstAdmissionAsItStandsNow) {
  const auto first = std::get<Admitted>(answer(keyed("acme", "once", "r")));
  EXPECT_EQ(answer(keyed("acme", "once", "r")), (AdmitAnswer{Repeated{first, Status::queued}}));
  ASSERT_EQ(mint(first, "n"), MintAnswer::minted);
  ASSERT_FALSE(refused(begin(first.job, "n", "run")));
  EXPECT_EQ(answer(keyed("acme", "once", "r", 1h)),
            (AdmitAnswer{Repeated{first, Status::running}}));
  ASSERT_EQ(*store->ledger().finish(first.execution, {"run"}, {}, kNoon), FinishAnswer::finished);
  EXPECT_EQ(answer(keyed("acme", "once", "r", 24h)),
            (AdmitAnswer{Repeated{first, Status::success}}));
  EXPECT_EQ(rows_of("acme"), 1U);
}

TEST_P(StoreDoor, TheSameKeyWithAnotherRequestIsRefused) {
  const auto first = std::get<Admitted>(answer(keyed("acme", "once", "r")));
  EXPECT_EQ(answer(keyed("acme", "once", "s")), (AdmitAnswer{KeyReused{first.execution}}));
  EXPECT_EQ(rows_of("acme"), 1U);
}

TEST_P(StoreDoor, AKeyIsItsAccountsOwnAndExact) {
  answer(keyed("acme", "once", "r"));
  for (const auto& other :
       {keyed("beta", "once", "r"), keyed("acme", "Once", "r"), keyed("acme", "once ", "r")})
    EXPECT_TRUE(std::holds_alternative<Admitted>(answer(other)));
}

TEST_P(StoreDoor, AfterItsTimeAKeyAdmitsAnewAndTheNewAdmissionHoldsIt) {
  const auto first = std::get<Admitted>(answer(keyed("acme", "once", "r")));
  const auto second = std::get<Admitted>(answer(keyed("acme", "once", "s", 24h + 1ms)));
  EXPECT_NE(second, first);
  EXPECT_EQ(answer(keyed("acme", "once", "s", 24h + 2ms)),
            (AdmitAnswer{Repeated{second, Status::queued}}));
  EXPECT_EQ(row(first.execution).state(), State::queued) << "it is not touched otherwise";
}

TEST_P(StoreDoor, WhatIsTooDeepDoesNotUseItsKeyUp) {
  admit("acme", "k");
  NewExecution fresh = keyed("acme", "once", "r");
  fresh.caps = {.per_account = 1, .all = 10};
  EXPECT_TRUE(std::holds_alternative<TooDeep>(answer(fresh)));
  EXPECT_TRUE(std::holds_alternative<Admitted>(answer(keyed("acme", "once", "another"))));
}

TEST_P(StoreDoor, ARepeatedRequestIsAnsweredAtAnyDepth) {
  const auto first = std::get<Admitted>(answer(keyed("acme", "once", "r")));
  NewExecution again = keyed("acme", "once", "r");
  again.caps = {.per_account = 1, .all = 1};
  EXPECT_EQ(answer(again), (AdmitAnswer{Repeated{first, Status::queued}}));
}

TEST_P(StoreDoor, OfManyAtOnceWithOneKeyOneIsAdmittedAndTheOthersAreTold) {
  std::vector<NewExecution> many;
  for (int i = 0; i < 32; ++i) many.push_back(keyed("acme", "once", i % 2 == 0 ? "r" : "s"));
  const auto answers = at_once(many);
  EXPECT_EQ(admitted(answers), 1);
  const auto first = std::get<Admitted>(answers[0]);
  for (std::size_t i = 1; i < answers.size(); ++i)
    EXPECT_EQ(answers[i], i % 2 == 0 ? (AdmitAnswer{Repeated{first, Status::queued}})
                                     : (AdmitAnswer{KeyReused{first.execution}}));
  EXPECT_EQ(rows_of("acme"), 1U);
}

// ---- refusals

TEST_P(StoreDoor, BeyondItsBoundAnAccountsRefusalsAreOneRowThatCountsTheRest) {
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(row(refuse(refusal("acme", ErrorCode::does_not_parse))).error_message,
              "its own message");
  const ExecutionId counting = refuse(refusal("acme", ErrorCode::does_not_parse, 1min));
  EXPECT_EQ(row(counting).state(), State::invalid);
  EXPECT_EQ(row(counting).account_id, AccountId{"acme"});
  EXPECT_EQ(row(counting).identifier, std::nullopt);
  EXPECT_EQ(store->view().text(counting)->value().source, std::nullopt);
  for (int i = 0; i < 7; ++i)
    EXPECT_EQ(refuse(refusal("acme", ErrorCode::rejected_for_depth, 2min)), counting);
  EXPECT_EQ(row(counting).state(), State::rejected);
  EXPECT_EQ(row(counting).finished_at, kNoon + 1min);
  EXPECT_EQ(row(counting).error_message,
            "8 more refused submissions in the hour from 2026-08-24T12:00:00.000Z, beyond the "
            "first 3: 7 rejected for depth, 1 that do not parse");
  EXPECT_EQ(rows_of("acme"), 4U);
  EXPECT_EQ(row(refuse(refusal("beta", ErrorCode::does_not_parse))).error_message,
            "its own message");
}

TEST_P(StoreDoor, TheNextHourBeginsAnew) {
  for (int i = 0; i < 5; ++i) refuse(refusal("acme", ErrorCode::does_not_parse));
  EXPECT_EQ(rows_of("acme"), 4U);
  const ExecutionId next = refuse(refusal("acme", ErrorCode::does_not_parse, 1h));
  EXPECT_EQ(row(next).error_message, "its own message");
  for (int i = 0; i < 4; ++i) refuse(refusal("acme", ErrorCode::does_not_parse, 1h));
  EXPECT_EQ(rows_of("acme"), 8U);
}

TEST_P(StoreDoor, InventedAccountsAreBoundedTogether) {
  for (int i = 0; i < 5; ++i) refuse(refusal("a" + std::to_string(i), ErrorCode::does_not_parse));
  const ExecutionId counting = refuse(refusal("a5", ErrorCode::does_not_parse));
  EXPECT_EQ(refuse(refusal("a6", ErrorCode::rejected_for_depth)), counting);
  EXPECT_EQ(row(counting).account, "");
  EXPECT_EQ(rows_of("a5"), 0U);
  EXPECT_EQ(store->view().executions({})->size(), 6U);
}

TEST_P(StoreDoor, ACountingRowThatWasPurgedIsMadeAgain) {
  for (int i = 0; i < 4; ++i) refuse(refusal("acme", ErrorCode::does_not_parse));
  ASSERT_TRUE(store->reaper().purge({.queued_before = kNoon + 1min}));
  ASSERT_EQ(rows_of("acme"), 0U);
  const ExecutionId again = refuse(refusal("acme", ErrorCode::does_not_parse, 2min));
  EXPECT_EQ(row(again).error_message,
            "2 more refused submissions in the hour from 2026-08-24T12:00:00.000Z, beyond the "
            "first 3: 0 rejected for depth, 2 that do not parse");
  EXPECT_EQ(rows_of("acme"), 1U);
}

INSTANTIATE_TEST_SUITE_P(On, StoreDoor,
                         testing::Values(BackendChoice{"memory", make_memory_backend},
                                         BackendChoice{"sqlite", make_sqlite_backend},
                                         BackendChoice{"sqlite_lying", make_lying_backend},
                                         BackendChoice{"sqlite_losing", make_losing_backend}),
                         [](const auto& suite) { return std::string{suite.param.name}; });

}  // namespace
}  // namespace coderunner::contract
