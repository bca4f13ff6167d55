#include <algorithm>
#include <map>

#include "tests/contract/backend.h"
#include "tests/contract/sqlite_files.h"

namespace coderunner::contract {
namespace {

using namespace std::chrono_literals;

TEST_P(StoreContract, AnUnknownExecutionIsAbsentEverywhere) {
  auto& view = store->view();
  EXPECT_EQ(*view.execution({7}), std::nullopt);
  EXPECT_FALSE(view.text({7})->has_value());
  EXPECT_FALSE(view.dispatch_trace({7})->has_value());
  EXPECT_TRUE(view.logs({7}, {0}, 10)->empty());
  EXPECT_TRUE(view.executions({})->empty());
}

TEST_P(StoreContract, ExecutionsAreListedNewestFirstInKeysetPages) {
  std::vector<ExecutionId> newest_first;
  for (int i = 0; i < 5; ++i) newest_first.push_back(admit("acme", "k1").execution);
  std::ranges::reverse(newest_first);
  const auto listed = [&](std::optional<ExecutionId> before) {
    ExecutionFilter filter;
    filter.before = before;
    filter.limit = 2;
    std::vector<ExecutionId> ids;
    const auto page = *store->view().executions(filter);
    for (const Execution& row : page) ids.push_back(row.id);
    return ids;
  };
  using Ids = std::vector<ExecutionId>;
  EXPECT_EQ(listed(std::nullopt), (Ids{newest_first[0], newest_first[1]}));
  EXPECT_EQ(listed(newest_first[1]), (Ids{newest_first[2], newest_first[3]}));
  EXPECT_EQ(listed(newest_first[3]), (Ids{newest_first[4]}));
  EXPECT_EQ(listed(newest_first[4]), Ids{});
}

TEST_P(StoreContract, AListOfOneAccountHoldsNoRowOfAnother) {
  admit("acme", "k1");
  const Admitted mine = admit("zeta", "k1");
  ExecutionFilter filter;
  filter.account = AccountId{"zeta"};
  const auto listed = *store->view().executions(filter);
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].id, mine.execution);
}

TEST_P(StoreContract, EveryStateFiltersExactlyItsRows) {
  using Planted = MemoryStore::Planted;
  const auto planted = [](const char* status, std::optional<int> code, bool started) {
    Planted row{.account = "acme", .account_id = AccountId{"acme"}, .status = status};
    row.error_code = code;
    row.queued_at = kNoon;
    if (started) row.started_at = kNoon;
    return row;
  };
  const std::vector<std::pair<State, Planted>> rows{
      {State::queued, planted("queued", {}, false)},
      {State::running, planted("running", {}, true)},
      {State::succeeded, planted("success", {}, true)},
      {State::failed, planted("error", 301, true)},
      {State::failed, planted("error", 302, true)},
      {State::failed, planted("error", 106, false)},
      {State::failed, planted("error", {}, false)},
      {State::failed, planted("error", 107, true)},
      {State::failed, planted("error", 201, true)},
      {State::invalid, planted("error", 201, false)},
      {State::rejected, planted("error", 107, false)},
      {State::cancelled, planted("error", 108, false)},
      {State::never_dispatched, planted("error", 303, false)},
      {State::killed, planted("error", 303, true)},
  };
  std::map<State, std::vector<ExecutionId>> expected;
  for (const auto& [state, row] : rows) {
    expected[state].push_back(store->plant(row).execution);
  }
  ASSERT_EQ(expected.size(), 9U);
  for (auto& [state, ids] : expected) {
    std::ranges::reverse(ids);
    for (const bool of_account : {false, true}) {
      ExecutionFilter filter;
      filter.state = state;
      if (of_account) filter.account = AccountId{"acme"};
      std::vector<ExecutionId> found;
      const auto listed = *store->view().executions(filter);
      for (const Execution& row : listed) {
        EXPECT_EQ(row.state(), state);
        found.push_back(row.id);
      }
      EXPECT_EQ(found, ids) << to_text(state);
    }
  }
}

TEST_P(StoreContract, ARowOfAnOldWriterWasQueuedWhenItStarted) {
  const Admitted old = store->plant({.account = "old",
                                     .account_id = AccountId{"old"},
                                     .status = "success",
                                     .started_at = kNoon + 4s,
                                     .finished_at = kNoon + 5s});
  EXPECT_EQ(row(old.execution).queued_at, kNoon + 4s);
}

TEST_P(StoreContract, FiguresCountQueuedAndRunningByAccountAndLane) {
  admit("acme", "k1", 30ms);
  admit("acme", "k1", 10ms);
  admit("acme", "k2", 20ms);
  run("acme", "run1");
  run("busy", "run2");
  const Admitted ended = run("gone", "run3");
  ASSERT_TRUE(store->ledger().finish(ended.execution, {"run3"}, {}, kNoon));
  store->plant({.account = "acme", .account_id = AccountId{"acme"}, .queued_at = kNoon + 5ms});

  const QueueFigures figures = *store->view().figures();
  ASSERT_EQ(figures.accounts.size(), 2U);
  const AccountFigures& acme = figures.accounts[0];
  EXPECT_EQ(acme.account, "acme");
  EXPECT_EQ(acme.account_id, AccountId{"acme"});
  EXPECT_EQ(acme.queued, 4);
  EXPECT_EQ(acme.in_flight, 1);
  EXPECT_EQ(acme.oldest_queued_at, kNoon + 5ms);
  const AccountFigures& busy = figures.accounts[1];
  EXPECT_EQ(busy.account, "busy");
  EXPECT_EQ(busy.queued, 0);
  EXPECT_EQ(busy.in_flight, 1);
  EXPECT_EQ(busy.oldest_queued_at, std::nullopt);

  ASSERT_EQ(figures.lanes.size(), 3U);
  EXPECT_EQ(figures.lanes[0].key, std::nullopt);
  EXPECT_EQ(figures.lanes[1].key, ApiKeyHash{"k1"});
  EXPECT_EQ(figures.lanes[1].account_id, AccountId{"acme"});
  EXPECT_EQ(figures.lanes[1].queued, 2);
  EXPECT_EQ(figures.lanes[1].oldest_queued_at, kNoon + 10ms);
  EXPECT_EQ(figures.lanes[2].queued, 1);
}

TEST_P(StoreContract, FiguresListTheDispatchesThatHaveNotBegun) {
  const Admitted revoked = admit("acme", "k1");
  const Admitted out = admit("acme", "k1");
  const Admitted begun = admit("acme", "k2");
  admit("acme", "k1");
  mint(revoked, "n1");
  mint(out, "n2");
  mint(begun, "n3");
  ASSERT_FALSE(refused(begin(begun.job, "n3", "run3")));
  ASSERT_EQ(*store->dispatch().revoke(revoked.execution, {}), RevokeAnswer::free);
  EXPECT_EQ(store->view().figures()->outstanding,
            (std::vector<Occupied>{{out.execution, {"acme"}, ApiKeyHash{"k1"}}}));
}

TEST_P(StoreContract, FiguresOfAnEmptyStoreAreEmpty) {
  const QueueFigures figures = *store->view().figures();
  EXPECT_TRUE(figures.accounts.empty());
  EXPECT_TRUE(figures.lanes.empty());
}

}  // namespace
}  // namespace coderunner::contract
