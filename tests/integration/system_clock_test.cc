#include "adapters/system/system_clock.h"

#include <gtest/gtest.h>

#include <csignal>
#include <set>

#include "adapters/system/file.h"
#include "adapters/system/pause.h"
#include "adapters/system/signals.h"
#include "adapters/system/system_entropy.h"
#include "tests/integration/temp_folder.h"

namespace coderunner {
namespace {

using namespace std::chrono_literals;

TEST(SystemClockTest, ReadsAPlausibleTimeAndNeverGoesBack) {
  const SystemClock clock;
  EXPECT_GT(clock.utc_now(), *from_rfc3339("2024-01-01T00:00:00Z"));
  const MonoTime before = clock.mono_now();
  EXPECT_LE(before, clock.mono_now());
}

TEST(PauseTest, LastsAtLeastAsLongAsAskedAndNotForNegativeTimes) {
  const SystemClock clock;
  const MonoTime start = clock.mono_now();
  pause(20ms);
  EXPECT_GE(clock.mono_now() - start, 20ms);
  const MonoTime again = clock.mono_now();
  pause(-1h);
  EXPECT_LT(clock.mono_now() - again, 10s);
}

TEST(SystemEntropyTest, NeverGivesTheSameNonceTwice) {
  SystemEntropy entropy;
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random_hex_128(entropy));
  EXPECT_EQ(seen.size(), 1000U);
  EXPECT_EQ(seen.begin()->size(), 32U);
}

TEST(StopSignalsTest, AreTakenOneByOneInsteadOfEndingTheProcess) {
  auto signals = StopSignals::block();
  ASSERT_TRUE(signals);
  EXPECT_FALSE(signals->take());
  EXPECT_FALSE(signals->wait(1ms));
  raise(SIGTERM);
  EXPECT_TRUE(signals->wait(10s));
  raise(SIGINT);
  EXPECT_TRUE(signals->take());
  EXPECT_FALSE(signals->take());
  unblock_stop_signals();
}

TEST(ReadFileTest, GivesTheBytesOrNamesTheFile) {
  const TempFolder folder;
  const std::string bytes{"a\0b\n", 4};
  EXPECT_EQ(*read_file(folder.write("small", bytes), 4), bytes);
  const auto large = read_file(folder / "small", 3);
  ASSERT_FALSE(large);
  EXPECT_NE(large.error().message.find("small is larger than 3 bytes"), std::string::npos);
  const auto missing = read_file(folder / "missing", 3);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("missing: No such file"), std::string::npos);
  EXPECT_FALSE(read_file(folder.path(), 3));
}

}  // namespace
}  // namespace coderunner
