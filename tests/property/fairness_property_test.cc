// Fairness over time (rulings 4): the plan and the shares, tick after tick, under arbitrary floods.
#include <fmt/format.h>

#include <algorithm>

#include "tests/property/seeded.h"
#include "tests/property/tick_model.h"

namespace coderunner {
namespace {

using namespace std::chrono_literals;
namespace gen = rc::gen;

const AccountId kQuiet{"quiet"};

int drawn_of(int from, int below) {
  return *gen::resize(rc::kNominalSize, gen::inRange(from, below));
}

struct Floods {
  PlanLimits limits;
  std::vector<Millis> services;  // of one flooding account each
  Millis longest() const { return *std::ranges::max_element(services); }
};

AccountId flooding(std::size_t number) { return {fmt::format("flood{}", number)}; }

Floods draw_floods(int fewest) {
  Floods drawn;
  drawn.limits.concurrency = drawn_of(1, 7);
  drawn.limits.per_account = drawn_of(1, 4);
  const int accounts = drawn_of(fewest, 9);
  for (int i = 0; i < accounts; ++i) drawn.services.push_back(drawn_of(1, 341) * 100ms);
  RC_LOG() << drawn.limits.concurrency << " slots, " << drawn.limits.per_account
           << " per account; scripts of:";
  for (const Millis service : drawn.services) RC_LOG() << ' ' << service.count() << " ms";
  return drawn;
}

TickModel model_of(const Floods& floods) {
  TickModel model{floods.limits};
  for (std::size_t i = 0; i < floods.services.size(); ++i)
    model.flood(flooding(i), floods.services[i]);
  return model;
}

// R35, R38, R41: whatever floods, and whatever waits for a gate or an operator.
TEST(Fairness, AQuietAccountWaitsAtMostOneServiceTime) {
  expect_always(
      [] {
        const Floods floods = draw_floods(1);
        TickModel model = model_of(floods);
        for (int i = drawn_of(0, 4); i > 0; --i) {
          const AccountId parked{fmt::format("parked{}", i)};
          model.flood(parked, 1s);
          model.park(parked);
        }
        // Each of the others has had its turn: before that nobody is quiet, all have just come. And
        // what it used last time is made up for by all of them before it returns.
        const Millis gap = (static_cast<int>(floods.services.size()) + 1) * 2 * floods.longest();
        Millis at = gap + drawn_of(1, 600) * 100ms;
        for (int i = 0; i < 3; ++i, at += gap) model.arrive(at, kQuiet, floods.longest());
        model.run_until(at);
        RC_ASSERT(model.waits(kQuiet).size() == 3U);
        RC_ASSERT(std::ranges::max(model.waits(kQuiet)) <= floods.longest());
      },
      300);
}

TEST(Fairness, AnAccountThatComesBackFromAPauseTakesNoMoreThanItsShare) {
  expect_always(
      [] {
        const Floods floods = draw_floods(1);
        TickModel model = model_of(floods);
        const AccountId back{"back"};
        model.flood(back, floods.longest());
        model.park(back);
        model.run_until(1h);
        model.park(back, false);
        const Millis before = model.slot_time(flooding(0));
        model.run_until(2h);
        RC_ASSERT(model.slot_time(back) > 0s);
        const Millis others = model.slot_time(flooding(0)) - before;
        RC_ASSERT(model.slot_time(back) <=
                  others + 2 * floods.limits.per_account * floods.longest());
      },
      100);
}

// Nobody starves, and long scripts gain nothing: over any hour floods hold the same slot time.
TEST(Fairness, FloodsHoldTheSameSlotTimeWhateverTheirScriptsTake) {
  expect_always(
      [] {
        const Floods floods = draw_floods(2);
        TickModel model = model_of(floods);
        model.run_until(1h);
        std::vector<Millis> held;
        for (std::size_t i = 0; i < floods.services.size(); ++i)
          held.push_back(model.slot_time(flooding(i)));
        const auto [least, most] = std::ranges::minmax(held);
        RC_ASSERT(most - least <= 2 * floods.limits.per_account * floods.longest());
        RC_ASSERT(least > 0s);
      },
      100);
}

// R39
TEST(Fairness, SplitsSlotSecondsEvenlyBetween34SecondAnd1SecondScripts) {
  for (const int slots : {1, 2, 3, 4}) {
    TickModel model{{.concurrency = slots}};
    const AccountId longer{"34 s"}, shorter{"1 s"};
    model.flood(longer, 34s);
    model.flood(shorter, 1s);
    model.run_until(1h);
    const double total = static_cast<double>(slots) * 3600;
    const double share = static_cast<double>(model.slot_time(longer) / 1s) / total;
    EXPECT_NEAR(share, 0.5, 0.02) << "of " << slots << " slots";
    EXPECT_NEAR(static_cast<double>(model.slot_time(shorter) / 1s) / total, 0.5, 0.02);
  }
}

// The same in the old order: what R39 and R35 are about.
TEST(Fairness, IsWhatFifoDoesNotGive) {
  TickModel model{{.order = Order::fifo, .concurrency = 1}};
  model.flood({"flood"}, 10s);
  model.arrive(1s, kQuiet, 1s);
  model.run_until(1h);
  EXPECT_TRUE(model.waits(kQuiet).empty());
}

}  // namespace
}  // namespace coderunner
