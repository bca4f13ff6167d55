#include "tests/contract/backend.h"

namespace coderunner::contract {
namespace {

using namespace std::chrono_literals;
using Entries = std::vector<std::string>;

class StoreControl : public StoreContract {
 protected:
  static Act act(Millis after_noon = Millis{0}) { return {"ada", kNoon + after_noon}; }
  static NamedAccount named(const std::string& account) { return {account, {account}}; }
  ControlStore& control() { return store->control(); }
  Standing standing() { return *store->dispatch().standing(); }
};

// ---- what stands

TEST_P(StoreControl, NothingStandsWhereNobodyActed) {
  admit("acme", "k1");
  EXPECT_EQ(standing(), Standing{});
  EXPECT_EQ(*store->view().standing(), Standing{});
  EXPECT_EQ(store->audit(), Entries{});
}

TEST_P(StoreControl, WhatOperatorsSaidStandsForTheDrainerAndForTheViews) {
  ASSERT_TRUE(control().pause(act(), named("acme")));
  ASSERT_TRUE(control().pause(act(), named("zeta")));
  ASSERT_TRUE(control().set_per_account(act(), named("beta"), 1));
  const Standing expected{
      .everybody_paused = false, .paused = {{"acme"}, {"zeta"}}, .per_account = {{{"beta"}, 1}}};
  EXPECT_EQ(standing(), expected);
  EXPECT_EQ(*store->view().standing(), expected);
}

TEST_P(StoreControl, EveryActHasOneEntryThatSaysWhoseWhenWhatAndToWhom) {
  const Admitted one = admit("acme", "k1");
  admit("acme", "k1");
  ASSERT_TRUE(control().pause(act(1ms), std::nullopt));
  ASSERT_TRUE(control().pause(act(2ms), named("acme")));
  ASSERT_TRUE(control().resume(act(3ms), named("acme")));
  ASSERT_TRUE(control().resume(act(4ms), std::nullopt));
  ASSERT_TRUE(control().cancel(act(5ms), one.execution));
  ASSERT_TRUE(control().cancel_queued(act(6ms), named("acme")));
  ASSERT_TRUE(control().set_per_account(act(7ms), named("acme"), 3));
  ASSERT_TRUE(control().set_per_account(act(8ms), named("acme"), std::nullopt));
  ASSERT_TRUE(control().record(audit_set_gate(act(9ms), {"k1"}, 30min)));
  ASSERT_TRUE(control().record(audit_clear_gate(act(10ms), {"k1"})));
  EXPECT_EQ(
      store->audit(),
      (Entries{"12:00:00.001 ada pause *", "12:00:00.002 ada pause acme",
               "12:00:00.003 ada resume acme", "12:00:00.004 ada resume *",
               "12:00:00.005 ada cancel " + std::to_string(one.execution.value),
               "12:00:00.006 ada cancel_queued acme cancelled=1",
               "12:00:00.007 ada set_per_account acme per_account=3",
               "12:00:00.008 ada set_per_account acme per_account=default",
               "12:00:00.009 ada set_gate k1 for_ms=1800000", "12:00:00.010 ada clear_gate k1"}));
}

// ---- pause

TEST_P(StoreControl, NothingIsMintedForAPausedAccountUntilItIsResumed) {
  const Admitted paused = admit("acme", "k1");
  const Admitted other = admit("zeta", "k2");
  ASSERT_TRUE(control().pause(act(), named("acme")));
  ASSERT_TRUE(control().pause(act(), named("acme"))) << "again";
  EXPECT_EQ(mint(paused, "n1"), MintAnswer::account_paused);
  EXPECT_EQ(mint(other, "n2"), MintAnswer::minted);
  ASSERT_TRUE(control().resume(act(), named("acme")));
  EXPECT_EQ(mint(paused, "n3"), MintAnswer::minted);
  EXPECT_EQ(standing(), Standing{});
}

TEST_P(StoreControl, APauseOfEverybodyAndThatOfOneAccountAreLiftedApart) {
  const Admitted one = admit("acme", "k1");
  const Admitted other = admit("zeta", "k2");
  ASSERT_TRUE(control().pause(act(), std::nullopt));
  ASSERT_TRUE(control().pause(act(), named("acme")));
  EXPECT_EQ(standing(), (Standing{.everybody_paused = true, .paused = {{"acme"}}}));
  EXPECT_EQ(mint(other, "n1"), MintAnswer::account_paused);
  ASSERT_TRUE(control().resume(act(), std::nullopt));
  EXPECT_EQ(mint(other, "n2"), MintAnswer::minted);
  EXPECT_EQ(mint(one, "n3"), MintAnswer::account_paused);
  ASSERT_TRUE(control().resume(act(), named("acme")));
  EXPECT_EQ(mint(one, "n4"), MintAnswer::minted);
}

// ---- cancel

TEST_P(StoreControl, ACancelledRowSaysSoAndItsKeyIsGone) {
  const Admitted admitted = admit("acme", "k1");
  EXPECT_EQ(*control().cancel(act(5s), admitted.execution), CancelAnswer::cancelled);
  const Execution row = this->row(admitted.execution);
  EXPECT_EQ(row.state(), State::cancelled);
  EXPECT_EQ(row.error_code, 108);
  EXPECT_EQ(row.finished_at, kNoon + 5s);
  EXPECT_EQ(row.started_at, std::nullopt);
  EXPECT_EQ(store->sealed_key(admitted.job), std::nullopt);
}

TEST_P(StoreControl, ACancelledRowIsNeverDispatched) {
  const Admitted admitted = admit("acme", "k1");
  ASSERT_TRUE(control().cancel(act(), admitted.execution));
  EXPECT_TRUE(store->dispatch().lanes(2)->empty());
  EXPECT_EQ(mint(admitted, "n1"), MintAnswer::not_queued);
}

TEST_P(StoreControl, ACancelOfAnOutstandingNonceLeavesNothingToBegin) {
  const Admitted admitted = admit("acme", "k1");
  ASSERT_EQ(mint(admitted, "n1"), MintAnswer::minted);
  EXPECT_EQ(*control().cancel(act(), admitted.execution), CancelAnswer::cancelled);
  EXPECT_TRUE(refused(begin(admitted.job, "n1", "run1")));
  EXPECT_EQ(*store->dispatch().revoke(admitted.execution, {std::nullopt, "refused"}),
            RevokeAnswer::ended);
  EXPECT_EQ(row(admitted.execution).state(), State::cancelled);
}

TEST_P(StoreControl, OfBeginAndCancelTheFirstWins) {
  const Admitted begun = run("acme", "run1");
  EXPECT_EQ(*control().cancel(act(), begun.execution), CancelAnswer::not_queued);
  EXPECT_EQ(row(begun.execution).state(), State::running);
  EXPECT_NE(store->sealed_key(begun.job), std::nullopt);
  ASSERT_TRUE(store->ledger().finish(begun.execution, {"run1"}, {}, kNoon));
  EXPECT_EQ(*control().cancel(act(), begun.execution), CancelAnswer::not_queued);
  EXPECT_EQ(row(begun.execution).state(), State::succeeded);
  EXPECT_EQ(*control().cancel(act(), {9999}), CancelAnswer::unknown);
  EXPECT_EQ(store->audit(), Entries{}) << "what came too late is no act";
}

TEST_P(StoreControl, ASecondCancelFindsItNotQueuedAnyMore) {
  const Admitted admitted = admit("acme", "k1");
  ASSERT_EQ(*control().cancel(act(1ms), admitted.execution), CancelAnswer::cancelled);
  EXPECT_EQ(*control().cancel(act(2ms), admitted.execution), CancelAnswer::not_queued);
  EXPECT_EQ(row(admitted.execution).finished_at, kNoon + 1ms);
  EXPECT_EQ(store->audit().size(), 1U);
}

TEST_P(StoreControl, ACancelOfAllThatIsQueuedTouchesNoRunAndNoOtherAccount) {
  const Admitted running = run("acme", "run1");
  const Admitted first = admit("acme", "k1");
  const Admitted second = admit("acme", "k2");
  const Admitted other = admit("zeta", "k1");
  ASSERT_EQ(mint(second, "n2"), MintAnswer::minted);
  EXPECT_EQ(*control().cancel_queued(act(1s), named("acme")), 2);
  for (const Admitted& one : {first, second}) {
    EXPECT_EQ(row(one.execution).state(), State::cancelled);
    EXPECT_EQ(row(one.execution).finished_at, kNoon + 1s);
    EXPECT_EQ(store->sealed_key(one.job), std::nullopt);
  }
  EXPECT_TRUE(refused(begin(second.job, "n2", "run2")));
  EXPECT_EQ(row(running.execution).state(), State::running);
  EXPECT_EQ(row(other.execution).state(), State::queued);
  EXPECT_NE(store->sealed_key(other.job), std::nullopt);
  EXPECT_EQ(*control().cancel_queued(act(2s), named("acme")), 0);
}

// ---- one account

TEST_P(StoreControl, AnAccountsCapIsItsOwnUntilItIsTheDefaultAgain) {
  ASSERT_TRUE(control().set_per_account(act(), named("acme"), 1));
  ASSERT_TRUE(control().set_per_account(act(), named("acme"), 3));
  ASSERT_TRUE(control().set_per_account(act(), named("zeta"), 4));
  EXPECT_EQ(standing().per_account, (std::map<AccountId, int>{{{"acme"}, 3}, {{"zeta"}, 4}}));
  ASSERT_TRUE(control().set_per_account(act(), named("acme"), std::nullopt));
  ASSERT_TRUE(control().set_per_account(act(), named("acme"), std::nullopt)) << "again";
  EXPECT_EQ(standing().per_account, (std::map<AccountId, int>{{{"zeta"}, 4}}));
}

TEST_P(StoreControl, AnAccountsStateIsItsRowsItsPauseAndItsCap) {
  EXPECT_EQ(*control().account({"acme"}), AccountState{});
  run("acme", "run1");
  admit("acme", "k1");
  admit("acme", "k2");
  admit("zeta", "k1");
  const Admitted ended = run("acme", "run2");
  ASSERT_TRUE(store->ledger().finish(ended.execution, {"run2"}, {}, kNoon));
  ASSERT_TRUE(control().set_per_account(act(), named("acme"), 3));
  AccountState expected{.queued = 2, .in_flight = 1, .paused = false, .per_account = 3};
  EXPECT_EQ(*control().account({"acme"}), expected);
  ASSERT_TRUE(control().pause(act(), named("zeta")));
  EXPECT_EQ(*control().account({"acme"}), expected);
  expected.paused = true;
  ASSERT_TRUE(control().pause(act(), std::nullopt));
  EXPECT_EQ(*control().account({"acme"}), expected) << "held back with everybody";
  ASSERT_TRUE(control().resume(act(), std::nullopt));
  ASSERT_TRUE(control().pause(act(), named("acme")));
  EXPECT_EQ(*control().account({"acme"}), expected);
}

INSTANTIATE_TEST_SUITE_P(On, StoreControl,
                         testing::Values(BackendChoice{"memory", make_memory_backend},
                                         BackendChoice{"sqlite", make_sqlite_backend},
                                         BackendChoice{"sqlite_lying", make_lying_backend},
                                         BackendChoice{"sqlite_losing", make_losing_backend}),
                         [](const auto& suite) { return std::string{suite.param.name}; });

}  // namespace
}  // namespace coderunner::contract
