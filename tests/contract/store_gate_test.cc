#include "tests/contract/backend.h"

namespace coderunner::contract {
namespace {

using namespace std::chrono_literals;

Gate seen(const std::string& key, Millis open_after, UtcTime now = kNoon) {
  return {{key}, now + open_after, now, now, open_after, 429};
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

}  // namespace
}  // namespace coderunner::contract
