#include "tests/contract/backend.h"

namespace coderunner::contract {
namespace {

using namespace std::chrono_literals;

// As the first 429 of a key leaves it.
Gate seen(const std::string& key, Millis open_after, UtcTime now = kNoon) {
  return {{key}, now + open_after, now, now, open_after, 429, now, open_after};
}

TEST_P(StoreContract, AGateIsClosedUntilItsTimeAndOpenFromThenOn) {
  auto& gates = store->gates();
  EXPECT_EQ(*gates.closed(ApiKeyHash{"k1"}, kNoon), std::nullopt);
  EXPECT_EQ(*gates.close(seen("k1", 10s), kNoon), seen("k1", 10s));
  EXPECT_EQ(*gates.closed(ApiKeyHash{"k1"}, kNoon + 10s - 1ms), seen("k1", 10s));
  EXPECT_EQ(*gates.closed(ApiKeyHash{"k1"}, kNoon + 10s), std::nullopt);
  EXPECT_EQ(*gates.closed(ApiKeyHash{"k2"}, kNoon), std::nullopt);
}

TEST_P(StoreContract, AGateIsOnlyEverExtended) {
  auto& gates = store->gates();
  ASSERT_TRUE(gates.close(seen("k1", 60s), kNoon));
  const Gate shorter = *gates.close(seen("k1", 5s, kNoon + 1s), kNoon + 1s);
  EXPECT_EQ(shorter.until, kNoon + 60s);
  EXPECT_EQ(shorter.first_seen, kNoon);
  EXPECT_EQ(shorter.last_seen, kNoon + 1s);
  const Gate longer = *gates.close(seen("k1", 90s, kNoon + 2s), kNoon + 2s);
  EXPECT_EQ(longer.until, kNoon + 92s);
  EXPECT_EQ(longer.first_seen, kNoon);
  EXPECT_EQ(*gates.closed(ApiKeyHash{"k1"}, kNoon + 2s), longer);
}

TEST_P(StoreContract, AGateThatHadOpenedBeginsANewClosure) {
  auto& gates = store->gates();
  ASSERT_TRUE(gates.close(seen("k1", 5s), kNoon));
  const Gate again = *gates.close(seen("k1", 5s, kNoon + 9s), kNoon + 9s);
  EXPECT_EQ(again, seen("k1", 5s, kNoon + 9s));
}

TEST_P(StoreContract, AGateMaySayNoHint) {
  Gate operators = seen("k1", 5s);
  operators.hint = std::nullopt;
  operators.status = 0;
  operators.limited_at = std::nullopt;
  EXPECT_EQ(*store->gates().close(operators, kNoon), operators);
  EXPECT_EQ(*store->gates().closed(ApiKeyHash{"k1"}, kNoon), operators);
}

TEST_P(StoreContract, TheLastRecordOfAKeyOutlivesItsClosure) {
  auto& gates = store->gates();
  EXPECT_EQ(*gates.last({"k1"}), std::nullopt);
  ASSERT_TRUE(gates.close(seen("k1", 5s), kNoon));
  ASSERT_TRUE(gates.close(seen("k2", 5s, kNoon + 20s), kNoon + 20s));
  ASSERT_EQ(*gates.closed(ApiKeyHash{"k1"}, kNoon + 20s), std::nullopt);
  EXPECT_EQ(*gates.last({"k1"}), seen("k1", 5s));
}

TEST_P(StoreContract, AClearedGateIsOpenAtOnceAndLeavesNoRecord) {
  auto& gates = store->gates();
  const Admitted parked = admit("acme", "k1");
  ASSERT_TRUE(gates.close(seen("k1", 60s), kNoon));
  ASSERT_TRUE(gates.close(seen("k2", 60s), kNoon));
  ASSERT_EQ(mint(parked, "n1"), MintAnswer::key_gated);
  EXPECT_TRUE(gates.clear({"k1"}));
  EXPECT_EQ(*gates.closed(ApiKeyHash{"k1"}, kNoon), std::nullopt);
  EXPECT_EQ(*gates.last({"k1"}), std::nullopt);
  EXPECT_EQ(mint(parked, "n2"), MintAnswer::minted);
  EXPECT_EQ(*gates.closed(ApiKeyHash{"k2"}, kNoon), seen("k2", 60s));
  EXPECT_TRUE(gates.clear({"k1"})) << "where there is none";
}

TEST_P(StoreContract, TheClosedGatesAreThoseThatHaveNotOpened) {
  auto& gates = store->gates();
  ASSERT_TRUE(gates.close(seen("k1", 30s), kNoon));
  ASSERT_TRUE(gates.close(seen("k2", 10s), kNoon));
  ASSERT_TRUE(gates.close(seen("k3", 20s), kNoon));
  EXPECT_EQ(*gates.closed(kNoon + 15s), (std::vector<Gate>{seen("k3", 20s), seen("k1", 30s)}));
  EXPECT_TRUE(gates.closed(kNoon + 30s)->empty());
}

TEST_P(StoreContract, AGateIsRememberedForADayAfterItOpened) {
  auto& gates = store->gates();
  ASSERT_TRUE(gates.close(seen("k1", 30s), kNoon));
  ASSERT_TRUE(gates.close(seen("k2", 10s), kNoon));
  const std::vector<GateRecord> both{{seen("k2", 10s), false}, {seen("k1", 30s), false}};
  EXPECT_EQ(*store->dispatch().gate_records(kNoon), both);
  EXPECT_EQ(*store->view().gate_records(kNoon + 1h), both);
  EXPECT_EQ(store->dispatch().gate_records(kNoon + 24h + 15s)->size(), 1U);
}

TEST_P(StoreContract, AGateIsProvedByARunThatBeganAfterItOpenedAndHasEnded) {
  const auto proved = [&] { return store->dispatch().gate_records(kNoon)->front().proved; };
  run("acme", "before", kNoon);
  ASSERT_TRUE(store->gates().close(seen("key-of-acme", 30s), kNoon));
  ASSERT_TRUE(store->ledger().finish({1}, {"before"}, {}, kNoon + 40s));
  EXPECT_FALSE(proved()) << "it began before";
  run("acme", "after", kNoon + 30s);
  EXPECT_FALSE(proved()) << "it still runs";
  run("other", "others", kNoon + 31s);
  ASSERT_TRUE(store->ledger().finish({3}, {"others"}, {}, kNoon + 40s));
  EXPECT_FALSE(proved()) << "another key's";
  ASSERT_TRUE(store->ledger().finish({2}, {"after"}, {}, kNoon + 50s));
  EXPECT_TRUE(proved());
  const Gate again = *store->gates().close(seen("key-of-acme", 5s, kNoon + 60s), kNoon + 60s);
  EXPECT_EQ(again.longest, 5s) << "the proof ends what came before it";
  EXPECT_FALSE(proved());
}

TEST_P(StoreContract, AGateThatClosesUnprovedRemembersItsLongestClosure) {
  ASSERT_TRUE(store->gates().close(seen("k1", 1h), kNoon));
  EXPECT_EQ(store->gates().close(seen("k1", 5s, kNoon + 2h), kNoon + 2h)->longest, 1h);
}

TEST_P(StoreContract, AGateThatWasWrittenUnderAClockAheadIsOpenOnceTheClockIsRight) {
  auto& gates = store->gates();
  const UtcTime ahead = kNoon + 365 * 24h;
  const Admitted parked = admit("acme", "k1");
  ASSERT_TRUE(gates.close(seen("k1", 60s, ahead), ahead));
  ASSERT_EQ(*gates.closed(ApiKeyHash{"k1"}, ahead), seen("k1", 60s, ahead));
  EXPECT_EQ(*gates.closed(ApiKeyHash{"k1"}, kNoon), std::nullopt);
  EXPECT_TRUE(gates.closed(kNoon)->empty());
  EXPECT_EQ(store->reaper().queued_before(kNoon + 1s, kNoon, 10)->size(), 1U);
  EXPECT_EQ(mint(parked, "n1"), MintAnswer::minted);
  EXPECT_TRUE(*store->reaper().end_never_dispatched(
      {parked.execution, kNoon + 1s, kNoon, "never dispatched", kNoon}));
}

TEST_P(StoreContract, AGateThatWasWrittenUnderAClockAheadIsClosedAnewByTheNext429) {
  auto& gates = store->gates();
  const UtcTime ahead = kNoon + 365 * 24h;
  const Admitted parked = admit("acme", "k1");
  ASSERT_TRUE(gates.close(seen("k1", 60s, ahead), ahead));
  EXPECT_EQ(*gates.close(seen("k1", 10s), kNoon), seen("k1", 10s));
  EXPECT_EQ(mint(parked, "n1"), MintAnswer::key_gated);
  EXPECT_EQ(*gates.closed(ApiKeyHash{"k1"}, kNoon + 10s), std::nullopt);
}

TEST_P(StoreContract, AGateOfTheLongestLengthIsClosedForAReaderWhoseTimeIsALittleOld) {
  auto& gates = store->gates();
  const Admitted parked = admit("acme", "k1");
  ASSERT_TRUE(gates.close(seen("k1", limits::kGateMax), kNoon));
  const UtcTime late = kNoon - limits::kGateSlack;
  EXPECT_TRUE(*gates.closed(ApiKeyHash{"k1"}, late));
  EXPECT_EQ(gates.closed(late)->size(), 1U);
  EXPECT_EQ(mint(parked, "n1", late), MintAnswer::key_gated);
  EXPECT_TRUE(store->reaper().queued_before(kNoon + 1s, late, 10)->empty());
}

TEST_P(StoreContract, AGateIsNeverClosedForLongerThanItsMaximum) {
  EXPECT_EQ(store->gates().close(seen("k1", 24h), kNoon)->until, kNoon + limits::kGateMax);
}

TEST_P(StoreContract, ARunningRowNamesItsKey) {
  run("acme", "run1");
  EXPECT_EQ(store->dispatch().running()->front().key, ApiKeyHash{"key-of-acme"});
}

}  // namespace
}  // namespace coderunner::contract
