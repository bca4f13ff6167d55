#include "tests/contract/backend.h"

namespace coderunner::contract {
namespace {

// ---- mint

TEST_P(StoreContract, AMintLeavesTheRowQueuedAndCountsTheAttempt) {
  const Admitted admitted = admit("acme", "k1");
  EXPECT_EQ(mint(admitted, "n1"), MintAnswer::minted);
  EXPECT_EQ(row(admitted.execution).state(), State::queued);
  EXPECT_EQ(row(admitted.execution).started_at, std::nullopt);
  EXPECT_EQ(store->view().dispatch_trace(admitted.execution)->value().attempts, 1);
}

TEST_P(StoreContract, ARowThatIsNotQueuedIsNotMinted) {
  const Admitted running = run("acme", "run1");
  EXPECT_EQ(mint(running, "n2"), MintAnswer::not_queued);
  ASSERT_TRUE(store->ledger().finish(running.execution, {"run1"}, {}, kNoon));
  EXPECT_EQ(mint(running, "n3"), MintAnswer::not_queued);
  EXPECT_EQ(mint({{9999}, {9999}}, "n4"), MintAnswer::not_queued);
  const Admitted other = admit("acme", "k1");
  EXPECT_EQ(mint({other.execution, {9999}}, "n5"), MintAnswer::not_queued);
}

TEST_P(StoreContract, ARowWhoseJobOrKeyIsGoneIsNotMintedButEnded) {
  const Admitted jobless = store->plant(
      {.account = "acme", .account_id = AccountId{"acme"}, .queued_at = kNoon, .with_job = false});
  EXPECT_EQ(mint(jobless, "n1"), MintAnswer::key_gone);
  EXPECT_TRUE(*store->dispatch().end_undispatched(jobless.execution, "API key gone", kNoon));
  EXPECT_FALSE(*store->dispatch().end_undispatched(jobless.execution, "again", kNoon));
  const Execution row = **store->view().execution(jobless.execution);
  EXPECT_EQ(row.state(), State::never_dispatched);
  EXPECT_EQ(row.error_message, "API key gone");
}

TEST_P(StoreContract, AGatedKeyIsNotMintedUntilItsGateOpens) {
  const Admitted gated = admit("acme", "k1");
  const Admitted other = admit("acme", "k2");
  const Gate gate{{"k1"}, kNoon + Millis{1000}, kNoon, kNoon, Millis{1000}, 429};
  ASSERT_TRUE(store->gates().close(gate, kNoon));
  EXPECT_EQ(mint(gated, "n1", kNoon + Millis{999}), MintAnswer::key_gated);
  EXPECT_TRUE(refused(begin(gated.job, "n1", "run1", kNoon + Millis{999})));
  EXPECT_EQ(mint(other, "n2", kNoon), MintAnswer::minted);
  EXPECT_EQ(mint(gated, "n3", kNoon + Millis{1000}), MintAnswer::minted);
}

TEST_P(StoreContract, APausedAccountIsNotMinted) {
  const Admitted paused = admit("acme", "k1");
  const Admitted other = admit("zeta", "k2");
  store->pause_account({"acme"});
  EXPECT_EQ(mint(paused, "n1"), MintAnswer::account_paused);
  EXPECT_EQ(mint(other, "n2"), MintAnswer::minted);
}

TEST_P(StoreContract, APauseOfEverybodyHoldsForEveryAccount) {
  const Admitted admitted = admit("acme", "k1");
  store->pause_account({""});
  EXPECT_EQ(mint(admitted, "n1"), MintAnswer::account_paused);
}

// ---- revoke

TEST_P(StoreContract, ARevokeOfAQueuedRowFreesItAndKeepsTheBackOff) {
  const Admitted admitted = admit("acme", "k1");
  mint(admitted, "n1");
  const UtcTime later = kNoon + Millis{250};
  EXPECT_EQ(*store->dispatch().revoke(admitted.execution, {later, "connection refused"}),
            RevokeAnswer::free);
  EXPECT_TRUE(refused(begin(admitted.job, "n1", "run1")));
  const DispatchTrace trace = store->view().dispatch_trace(admitted.execution)->value();
  EXPECT_EQ(trace.last_error, "connection refused");
  EXPECT_EQ(trace.not_before, later);
  EXPECT_EQ(mint(admitted, "n2"), MintAnswer::minted);
  EXPECT_FALSE(refused(begin(admitted.job, "n2", "run1")));
}

TEST_P(StoreContract, ARevokeWithoutAReasonKeepsTheLastOne) {
  const Admitted admitted = admit("acme", "k1");
  ASSERT_TRUE(store->dispatch().revoke(admitted.execution, {kNoon, "connection refused"}));
  ASSERT_TRUE(store->dispatch().revoke(admitted.execution, {std::nullopt, ""}));
  const DispatchTrace trace = store->view().dispatch_trace(admitted.execution)->value();
  EXPECT_EQ(trace.last_error, "connection refused");
  EXPECT_EQ(trace.not_before, std::nullopt);
}

TEST_P(StoreContract, AnOverlongDispatchErrorIsCutOnACharacter) {
  const Admitted admitted = admit("acme", "k1");
  std::string umlauts;
  for (int i = 0; i < 400; ++i) umlauts += "ü";
  ASSERT_TRUE(store->dispatch().revoke(admitted.execution, {std::nullopt, umlauts}));
  const auto error = store->view().dispatch_trace(admitted.execution)->value().last_error;
  EXPECT_LE(error->size(), limits::kMaxDispatchErrorBytes);
  EXPECT_TRUE(is_valid_utf8(*error));
}

TEST_P(StoreContract, ARevokeOfARunThatBeganSaysRunningAndChangesNothing) {
  const Admitted admitted = run("acme", "run1");
  EXPECT_EQ(*store->dispatch().revoke(admitted.execution, {kNoon, "reset"}), RevokeAnswer::running);
  EXPECT_EQ(row(admitted.execution).state(), State::running);
  EXPECT_EQ(store->view().dispatch_trace(admitted.execution)->value().last_error, std::nullopt);
}

TEST_P(StoreContract, ARevokeOfAnEndedOrUnknownRowSaysEnded) {
  const Admitted admitted = run("acme", "run1");
  ASSERT_TRUE(store->ledger().finish(admitted.execution, {"run1"}, {}, kNoon));
  EXPECT_EQ(*store->dispatch().revoke(admitted.execution, {kNoon, "reset"}), RevokeAnswer::ended);
  EXPECT_EQ(*store->dispatch().revoke({9999}, {kNoon, "reset"}), RevokeAnswer::ended);
}

TEST_P(StoreContract, RevokeAllFreesEveryOutstandingNonceOfQueuedRows) {
  const Admitted first = admit("acme", "k1");
  const Admitted second = admit("zeta", "k2");
  admit("zeta", "k2");
  run("beta", "run1");
  mint(first, "n1");
  mint(second, "n2");
  EXPECT_EQ(*store->dispatch().revoke_all(), 2);
  EXPECT_TRUE(refused(begin(first.job, "n1", "run2")));
  EXPECT_TRUE(refused(begin(second.job, "n2", "run3")));
  EXPECT_EQ(*store->dispatch().revoke_all(), 0);
}

// ---- running, abandon, slot time

TEST_P(StoreContract, RunningRowsCarryTheirRunAndExecutorOldestFirst) {
  const Admitted second = run("acme", "run2", kNoon + Millis{2});
  const Admitted first = run("zeta", "run1", kNoon + Millis{1});
  const Admitted old = store->plant(
      {.account = "old", .account_id = AccountId{"old"}, .status = "running", .started_at = kNoon});
  const auto running = *store->dispatch().running();
  ASSERT_EQ(running.size(), 3U);
  EXPECT_EQ(running[0].execution, old.execution);
  EXPECT_FALSE(running[0].run || running[0].executor);
  EXPECT_EQ(running[1].execution, first.execution);
  EXPECT_EQ(running[1].run, RunId{"run1"});
  EXPECT_EQ(running[1].executor, ExecutorId{"host|boot|1|2|3"});
  EXPECT_EQ(running[1].started_at, kNoon + Millis{1});
  EXPECT_EQ(running[2].execution, second.execution);
}

TEST_P(StoreContract, AnAbandonedRunEndsWith303AndItsKeyIsScrubbed) {
  const Admitted admitted = run("acme", "run1");
  EXPECT_TRUE(*store->dispatch().abandon(admitted.execution, RunId{"run1"}, "its executor died",
                                         kNoon + Millis{7}));
  const Execution row = this->row(admitted.execution);
  EXPECT_EQ(row.state(), State::killed);
  EXPECT_EQ(row.error_message, "reaped: its executor died; it had sent no change");
  EXPECT_EQ(row.finished_at, kNoon + Millis{7});
  EXPECT_EQ(store->sealed_key(admitted.job), std::nullopt);
}

TEST_P(StoreContract, AnAbandonOfAnotherRunOrStateChangesNothing) {
  const Admitted queued = admit("acme", "k1");
  const Admitted running = run("zeta", "run1");
  auto& dispatch = store->dispatch();
  EXPECT_FALSE(*dispatch.abandon(queued.execution, std::nullopt, "x", kNoon));
  EXPECT_FALSE(*dispatch.abandon(running.execution, RunId{"run2"}, "x", kNoon));
  EXPECT_FALSE(*dispatch.abandon(running.execution, std::nullopt, "x", kNoon));
  EXPECT_EQ(row(queued.execution).state(), State::queued);
  EXPECT_EQ(row(running.execution).state(), State::running);
  EXPECT_NE(store->sealed_key(queued.job), std::nullopt);
}

TEST_P(StoreContract, ARunOfAnOldWriterIsAbandonedByItsExecution) {
  const Admitted old = store->plant(
      {.account = "old", .account_id = AccountId{"old"}, .status = "running", .started_at = kNoon});
  EXPECT_TRUE(*store->dispatch().abandon(old.execution, std::nullopt, "lost", kNoon));
  EXPECT_EQ(row(old.execution).state(), State::killed);
}

TEST_P(StoreContract, OfFinishAndAbandonTheFirstWins) {
  const Admitted finished = run("acme", "run1");
  ASSERT_EQ(*store->ledger().finish(finished.execution, {"run1"}, {}, kNoon),
            FinishAnswer::finished);
  EXPECT_FALSE(*store->dispatch().abandon(finished.execution, RunId{"run1"}, "late", kNoon));
  EXPECT_EQ(row(finished.execution).state(), State::succeeded);

  const Admitted abandoned = run("acme", "run2");
  ASSERT_TRUE(*store->dispatch().abandon(abandoned.execution, RunId{"run2"}, "dead", kNoon));
  EXPECT_EQ(*store->ledger().finish(abandoned.execution, {"run2"}, {}, kNoon),
            FinishAnswer::not_this_run);
  EXPECT_EQ(row(abandoned.execution).state(), State::killed);
}

TEST_P(StoreContract, SlotTimeIsThatOfRunsEndedSinceAndOfThoseStillRunning) {
  using namespace std::chrono_literals;
  const Admitted before = run("acme", "run1", kNoon);
  ASSERT_TRUE(store->ledger().finish(before.execution, {"run1"}, {}, kNoon + 10s));
  const Admitted after = run("acme", "run2", kNoon + 5s);
  ASSERT_TRUE(store->ledger().finish(after.execution, {"run2"}, {}, kNoon + 25s));
  run("acme", "run3", kNoon + 20s);
  run("zeta", "run4", kNoon + 28s);
  admit("beta", "k1");
  EXPECT_EQ(*store->dispatch().slot_use(kNoon + 10s, kNoon + 30s),
            (std::vector<SlotUse>{{{"acme"}, 30s}, {{"zeta"}, 2s}}));
}

TEST_P(StoreContract, ARunFoundDeadLongAfterItBeganIsNoSlotTime) {
  using namespace std::chrono_literals;
  const Admitted lost = run("acme", "run1", kNoon);
  ASSERT_TRUE(*store->dispatch().abandon(lost.execution, RunId{"run1"}, "lost", kNoon + 5h));
  EXPECT_TRUE(store->dispatch().slot_use(kNoon + 4h, kNoon + 5h)->empty());
}

TEST_P(StoreContract, TheLastTickIsTheNewestHeartbeatOfAnyDrainer) {
  EXPECT_EQ(store->view().figures()->last_tick, std::nullopt);
  ASSERT_TRUE(store->dispatch().heartbeat({{"one"}, kNoon}));
  ASSERT_TRUE(store->dispatch().heartbeat({{"one"}, kNoon + Millis{5}}));
  ASSERT_TRUE(store->dispatch().heartbeat({{"two"}, kNoon + Millis{3}}));
  EXPECT_EQ(store->view().figures()->last_tick, kNoon + Millis{5});
}

TEST_P(StoreContract, TheNewestHeartbeatSaysWhyNothingCanBeHandedOver) {
  using namespace std::chrono_literals;
  auto& dispatch = store->dispatch();
  const ExecutorTrouble refused{"connection refused", kNoon + 30s};
  ASSERT_TRUE(dispatch.heartbeat({{"one"}, kNoon, refused}));
  EXPECT_EQ(store->view().figures()->trouble, refused);
  const ExecutorTrouble later{std::string(9999, 'x'), kNoon + 60s};
  ASSERT_TRUE(dispatch.heartbeat({{"one"}, kNoon + 1s, later}));
  const auto trouble = store->view().figures()->trouble;
  ASSERT_TRUE(trouble);
  EXPECT_LE(trouble->error.size(), limits::kMaxDispatchErrorBytes);
  EXPECT_EQ(trouble->until, kNoon + 60s);
  ASSERT_TRUE(dispatch.heartbeat({{"two"}, kNoon + 2s}));
  EXPECT_EQ(store->view().figures()->trouble, std::nullopt) << "a dead drainer's word is old";
  ASSERT_TRUE(dispatch.heartbeat({{"one"}, kNoon + 3s}));
  EXPECT_EQ(store->view().figures()->trouble, std::nullopt) << "it is over";
}

}  // namespace
}  // namespace coderunner::contract
