#include <gtest/gtest.h>

#include "services/control.h"
#include "sim/memory_store.h"
#include "tests/support/fakes.h"

namespace coderunner {
namespace {

using namespace std::chrono_literals;

class ControlTest : public testing::Test {
 protected:
  Admitted admit(const std::string& account, const std::string& key) {
    NewExecution fresh;
    fresh.ref = {"ref-" + std::to_string(++refs)};
    fresh.account = account;
    fresh.account_id = secrets.account_id(account);
    fresh.key = {key};
    fresh.sealed_key = "sealed:" + key;
    fresh.queued_at = clock.utc_now();
    Admitted admitted;
    store.admit(fresh,
                [&](const Result<AdmitAnswer>& answer) { admitted = std::get<Admitted>(*answer); });
    return admitted;
  }
  void run(const std::string& account) {
    const Admitted one = admit(account, "k");
    ASSERT_TRUE(store.mint({one.execution, one.job, {"n"}, {"d"}, clock.utc_now()}));
    ASSERT_TRUE(store.begin({one.job, {"n"}, {"run"}, {"e"}, clock.utc_now()}));
  }
  Gate met_429(const std::string& key, Millis length) {
    const UtcTime now = clock.utc_now();
    return *store.close({{key}, now + length, now, now, length, 429, now, length}, now);
  }

  fakes::TurnedClock clock;
  fakes::PlainSecrets secrets;
  MemoryStore store;
  int refs = 0;
  int woken = 0;
  Control control{65min, {store, store, store, secrets, clock}, [this] { ++woken; }};
};

TEST_F(ControlTest, APauseSaysHowManyOfItAreStillInFlight) {
  run("acme");
  run("zeta");
  EXPECT_EQ(*control.pause("ada", "acme"), (PauseReport{true, 1}));
  EXPECT_EQ(*control.pause("ada", std::nullopt), (PauseReport{true, 2}));
  EXPECT_EQ(*control.resume("ada", "acme"), (PauseReport{true, 1})) << "held with everybody";
  EXPECT_EQ(*control.resume("ada", std::nullopt), (PauseReport{false, 2}));
  EXPECT_EQ(*control.resume("ada", "acme"), (PauseReport{false, 1}));
  EXPECT_EQ(store.audit().front().act, (Act{"ada", clock.utc_now()}));
}

TEST_F(ControlTest, WhatWasHandedOverAndHasNotBegunIsInFlight) {
  const Admitted one = admit("acme", "k");
  ASSERT_TRUE(store.mint({one.execution, one.job, {"n"}, {"d"}, clock.utc_now()}));
  EXPECT_EQ(control.pause("ada", "acme")->in_flight, 1);
  EXPECT_EQ(control.pause("ada", "zeta")->in_flight, 0);
  EXPECT_EQ(control.pause("ada", std::nullopt)->in_flight, 1);
  EXPECT_EQ(control.account("acme")->in_flight, 1);
  ASSERT_TRUE(store.begin({one.job, {"n"}, {"run"}, {"e"}, clock.utc_now()}));
  EXPECT_EQ(control.account("acme")->in_flight, 1);
}

TEST_F(ControlTest, EveryActThatMayFreeWorkWakesTheDrainer) {
  const Admitted one = admit("acme", "k");
  int expected = 0;
  ASSERT_TRUE(control.pause("ada", "acme"));
  EXPECT_EQ(woken, ++expected);
  ASSERT_TRUE(control.resume("ada", "acme"));
  EXPECT_EQ(woken, ++expected);
  ASSERT_TRUE(control.cancel("ada", one.execution));
  EXPECT_EQ(woken, ++expected);
  ASSERT_EQ(*control.cancel("ada", one.execution), CancelAnswer::not_queued);
  EXPECT_EQ(woken, expected) << "nothing changed";
  ASSERT_TRUE(control.cancel_queued("ada", "acme"));
  EXPECT_EQ(woken, ++expected);
  ASSERT_TRUE(control.set_per_account("ada", "acme", 1));
  EXPECT_EQ(woken, ++expected);
  ASSERT_TRUE(control.clear_gate("ada", {"k"}));
  EXPECT_EQ(woken, ++expected);
}

TEST_F(ControlTest, AnOperatorsGateIsClosedForAsLongAsAskedButForNoLongerThanTheLongest) {
  admit("acme", "k1");
  admit("acme", "k1");
  const UtcTime now = clock.utc_now();
  const GateReport set = *control.set_gate("ada", {"k1"}, 30min);
  EXPECT_EQ(set, (GateReport{{{"k1"}, now + 30min, now, now, {}, 0, {}, 30min}, 2}));
  EXPECT_EQ(control.set_gate("ada", {"k2"}, 24h * 365 * 1000)->gate.until, now + 65min);
  EXPECT_EQ(control.set_gate("ada", {"k3"}, Millis::max())->gate.until, now + 65min);
}

TEST_F(ControlTest, AGateThatIsClosedForLongerStaysAsItIs) {
  const Gate standing = met_429("k1", 10min);
  clock.advance(1min);
  EXPECT_EQ(control.set_gate("ada", {"k1"}, 9min)->gate, standing);
  EXPECT_EQ(*store.last({"k1"}), standing);
  EXPECT_EQ(control.set_gate("ada", {"k1"}, 10min)->gate.until, clock.utc_now() + 10min);
}

TEST_F(ControlTest, TheGatesAreThoseClosedNowWithTheRowsThatWaitForThem) {
  admit("acme", "k1");
  admit("zeta", "k1");
  admit("zeta", "k3");
  met_429("k1", 10min);
  met_429("k2", 5min);
  met_429("k3", 1s);
  clock.advance(1s);
  const auto gates = *control.gates();
  ASSERT_EQ(gates.size(), 2U);
  EXPECT_EQ(gates[0].gate.key, ApiKeyHash{"k2"});
  EXPECT_EQ(gates[0].queued, 0);
  EXPECT_EQ(gates[1].gate.key, ApiKeyHash{"k1"});
  EXPECT_EQ(gates[1].queued, 2);
}

TEST_F(ControlTest, AGateThatIsClearedOpensAtOnceAlsoWhereThereWasNone) {
  met_429("k1", 10min);
  EXPECT_TRUE(control.clear_gate("ada", {"k1"}));
  EXPECT_TRUE(control.gates()->empty());
  EXPECT_TRUE(control.clear_gate("ada", {"k1"}));
  EXPECT_EQ(store.audit().size(), 2U);
}

TEST_F(ControlTest, AStoreThatIsAwayIsSaidAndNothingIsDone) {
  store.fail_with(fail(Failure::unavailable, "away"));
  EXPECT_EQ(control.pause("ada", std::nullopt).error().kind, Failure::unavailable);
  EXPECT_EQ(control.set_gate("ada", {"k1"}, 1min).error().kind, Failure::unavailable);
  EXPECT_EQ(woken, 0);
  store.fail_with(std::nullopt);
  EXPECT_EQ(*store.standing(), Standing{});
  EXPECT_EQ(*store.last({"k1"}), std::nullopt);
}

}  // namespace
}  // namespace coderunner
