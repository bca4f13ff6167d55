#include "tests/contract/backend.h"

namespace coderunner::contract {
namespace {

std::vector<std::int64_t> ids(const Lane& lane) {
  std::vector<std::int64_t> ids;
  for (const LaneRow& row : lane.rows) ids.push_back(row.execution.value);
  return ids;
}

TEST_P(StoreContract, AnEmptyQueueHasNoLanes) { EXPECT_TRUE(store->dispatch().lanes(2)->empty()); }

TEST_P(StoreContract, ALaneIsOneAccountAndOneKeyWithItsOldestRowsInOrder) {
  const Admitted late = admit("acme", "k1", Millis{30});
  const Admitted early = admit("acme", "k1", Millis{10});
  const Admitted other_key = admit("acme", "k2", Millis{20});
  const Admitted same_time = admit("acme", "k1", Millis{10});
  const Admitted other_account = admit("zeta", "k1", Millis{0});

  const auto lanes = *store->dispatch().lanes(2);
  ASSERT_EQ(lanes.size(), 3U);
  EXPECT_EQ(lanes[0].account, AccountId{"acme"});
  EXPECT_EQ(lanes[0].key, ApiKeyHash{"k1"});
  EXPECT_EQ(ids(lanes[0]), (std::vector{early.execution.value, same_time.execution.value}));
  EXPECT_EQ(lanes[0].rows[0].job, early.job);
  EXPECT_EQ(lanes[0].rows[0].queued_at, kNoon + Millis{10});
  EXPECT_EQ(ids(lanes[1]), (std::vector{other_key.execution.value}));
  EXPECT_EQ(lanes[2].account, AccountId{"zeta"});
  EXPECT_EQ(ids(lanes[2]), (std::vector{other_account.execution.value}));
  EXPECT_EQ(ids(store->dispatch().lanes(9)->front()).back(), late.execution.value);
}

TEST_P(StoreContract, ALaneWithALongBacklogHidesNoOtherLane) {
  for (int i = 0; i < 40; ++i) admit("flood", "k1", Millis{i});
  const Admitted quiet = admit("quiet", "k2", Millis{99});
  const auto lanes = *store->dispatch().lanes(2);
  ASSERT_EQ(lanes.size(), 2U);
  EXPECT_EQ(lanes[0].rows.size(), 2U);
  EXPECT_EQ(ids(lanes[1]), (std::vector{quiet.execution.value}));
}

TEST_P(StoreContract, ARowOfAnotherProgramWithoutAKeyIsALaneWithoutAGate) {
  const Admitted keyed = admit("acme", "k1");
  const Admitted keyless = store->plant(
      {.account = "acme", .account_id = AccountId{"acme"}, .queued_at = kNoon + Millis{1}});
  const Admitted empty_key = store->plant({.account = "acme",
                                           .account_id = AccountId{"acme"},
                                           .key = ApiKeyHash{""},
                                           .queued_at = kNoon});
  const auto lanes = *store->dispatch().lanes(2);
  ASSERT_EQ(lanes.size(), 3U);
  EXPECT_EQ(lanes[0].key, std::nullopt);
  EXPECT_EQ(ids(lanes[0]), (std::vector{keyless.execution.value}));
  EXPECT_EQ(ids(lanes[1]), (std::vector{empty_key.execution.value}));
  EXPECT_EQ(ids(lanes[2]), (std::vector{keyed.execution.value}));
  EXPECT_EQ(mint(keyless, "n1"), MintAnswer::minted);
  EXPECT_FALSE(refused(begin(keyless.job, "n1", "run1")));
}

TEST_P(StoreContract, ARowWithoutAnAccountHashIsStillReachable) {
  const Admitted nameless = store->plant({.account = "", .queued_at = kNoon});
  const auto lanes = *store->dispatch().lanes(2);
  ASSERT_EQ(lanes.size(), 1U);
  EXPECT_EQ(lanes[0].account, AccountId{""});
  EXPECT_EQ(ids(lanes[0]), (std::vector{nameless.execution.value}));
}

TEST_P(StoreContract, ABackOffShowsInItsLaneRow) {
  const Admitted admitted = admit("acme", "k1");
  ASSERT_TRUE(store->dispatch().revoke(admitted.execution, {kNoon + Millis{500}, "refused"}));
  EXPECT_EQ(store->dispatch().lanes(1)->front().rows.front().not_before, kNoon + Millis{500});
}

TEST_P(StoreContract, RunningAndFinishedRowsAreInNoLane) {
  run("acme", "run1");
  const Admitted ended = run("acme", "run2");
  ASSERT_TRUE(store->ledger().finish(ended.execution, {"run2"}, {}, kNoon));
  EXPECT_TRUE(store->dispatch().lanes(2)->empty());
}

}  // namespace
}  // namespace coderunner::contract
