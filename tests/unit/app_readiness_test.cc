#include <gtest/gtest.h>

#include "app/readiness.h"
#include "domain/limits.h"
#include "tests/support/fakes.h"

namespace coderunner::app {
namespace {

using namespace std::chrono_literals;

class ReadinessTest : public testing::Test {
 protected:
  Readiness make(bool drains = true) {
    ReadinessParts parts{.stopping = stopping,
                         .clock = clock,
                         .read_store = [this] { return read; },
                         .write_trouble = [this] { return trouble; },
                         .last_tick = {}};
    if (drains) parts.last_tick = [this] { return last_tick; };
    return Readiness{std::move(parts)};
  }

  using Reasons = std::vector<std::string>;
  std::atomic<bool> stopping = false;
  fakes::TurnedClock clock;
  Result<Done> read = Done{};
  std::optional<Error> trouble;
  std::optional<UtcTime> last_tick;
};

TEST_F(ReadinessTest, AFreshProcessIsReadyAndHasTimeForItsFirstTick) {
  const Readiness readiness = make();
  EXPECT_EQ(readiness.reasons(), Reasons{});
  clock.advance(limits::kStalledAfter);
  EXPECT_EQ(readiness.reasons(), Reasons{});
  clock.advance(1ms);
  EXPECT_EQ(readiness.reasons(), Reasons{"the drainer has stalled"});
}

TEST_F(ReadinessTest, ADrainerThatStoppedTickingIsAReasonUntilItTicksAgain) {
  const Readiness readiness = make();
  last_tick = clock.utc_now();
  clock.advance(limits::kStalledAfter + 1ms);
  EXPECT_EQ(readiness.reasons(), Reasons{"the drainer has stalled"});
  last_tick = clock.utc_now();
  EXPECT_EQ(readiness.reasons(), Reasons{});
}

TEST_F(ReadinessTest, WhereAnotherProcessDrainsItsTicksAreNoReason) {
  const Readiness readiness = make(false);
  clock.advance(1h);
  EXPECT_EQ(readiness.reasons(), Reasons{});
}

TEST_F(ReadinessTest, AStoreThatReadsButDoesNotWriteIsNotReady) {
  const Readiness readiness = make(false);
  trouble = fail(Failure::unavailable, "store.db: database or disk is full");
  EXPECT_EQ(readiness.reasons(),
            Reasons{"the store can not be written: store.db: database or disk is full"});
  trouble.reset();
  EXPECT_EQ(readiness.reasons(), Reasons{});
}

TEST_F(ReadinessTest, EveryReasonIsGiven) {
  const Readiness readiness = make();
  stopping = true;
  read = fail(Failure::unavailable, "gone");
  trouble = fail(Failure::unavailable, "full");
  clock.advance(1h);
  EXPECT_EQ(readiness.reasons().size(), 4U);
}

}  // namespace
}  // namespace coderunner::app
