#include <gtest/gtest.h>

#include "sim/quota_windows.h"
#include "sim/trace.h"

namespace coderunner::sim {
namespace {

using namespace std::chrono_literals;

constexpr const char* kHeader = "offset_ms,account,key,api_calls,call_ms,cpu_ms\n";

std::string complaint(const std::string& text) {
  const auto trace = read_trace(text);
  return trace ? "" : trace.error().message;
}

TEST(ATrace, IsReadInOrderOfTime) {
  const auto trace =
      read_trace(std::string{kHeader} + "20,b,kb,3,100,9\n5,a,ka,0,0,0\r\n\n20,c,kc,1,1,1");
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->size(), 3U);
  EXPECT_EQ((*trace)[0], (TraceArrival{5ms, "a", "ka", 0, 0ms, 0ms}));
  EXPECT_EQ((*trace)[1], (TraceArrival{20ms, "b", "kb", 3, 100ms, 9ms}));
  EXPECT_EQ((*trace)[2].account, "c") << "equal times in order of lines";
}

TEST(ATrace, MayBeEmptyAndBeginWithAByteOrderMark) {
  EXPECT_TRUE(read_trace(kHeader)->empty());
  EXPECT_TRUE(read_trace(std::string{"\xEF\xBB\xBF"} + kHeader)->empty());
}

TEST(ATrace, ThatIsWrongNamesLineAndColumn) {
  const std::string good = std::string{kHeader} + "1,a,k,1,1,1\n";
  EXPECT_EQ(complaint(""),
            "line 1: the header is not offset_ms,account,key,api_calls,call_ms,cpu_ms");
  EXPECT_EQ(complaint(good + "1,a,k,1,1\n"),
            "line 3: not 6 columns (offset_ms,account,key,api_calls,call_ms,cpu_ms)");
  EXPECT_EQ(complaint(good + "1,a,k,1,1,1,1\n"),
            "line 3: not 6 columns (offset_ms,account,key,api_calls,call_ms,cpu_ms)");
  EXPECT_EQ(complaint(good + "1,,k,1,1,1\n"), "line 3: account is empty");
  EXPECT_EQ(complaint(good + "1,a,,1,1,1\n"), "line 3: key is empty");
  for (const char* row : {"-1,a,k,1,1,1", "x,a,k,1,1,1", ",a,k,1,1,1", "1.5,a,k,1,1,1",
                          "99999999999999999999,a,k,1,1,1"})
    EXPECT_TRUE(complaint(good + row).starts_with("line 3: offset_ms is no number")) << row;
  EXPECT_TRUE(complaint(good + "1,a,k,-2,1,1").starts_with("line 3: api_calls is no number"));
  EXPECT_TRUE(complaint(good + "1,a,k,1,1 ,1").starts_with("line 3: call_ms is no number"));
  EXPECT_TRUE(complaint(good + "1,a,k,1,1,").starts_with("line 3: cpu_ms is no number"));
}

TEST(AQuota, RefusesWithWhatIsLeftOfTheWindowRoundedUp) {
  QuotaWindows quota{{.per_minute = 2, .per_hour = 0}};
  EXPECT_EQ(quota.call("k", 59'000ms).retry_after, std::nullopt);
  EXPECT_EQ(quota.call("k", 59'100ms).retry_after, std::nullopt);
  EXPECT_EQ(quota.call("k", 59'100ms).retry_after, Millis{1000});
  EXPECT_EQ(quota.call("other", 59'100ms).retry_after, std::nullopt) << "another key";
  EXPECT_EQ(quota.call("k", 60'000ms).retry_after, std::nullopt) << "the next window";
}

TEST(AQuota, DoesNotChargeWhatItRefuses) {
  QuotaWindows quota{{.per_minute = 1, .per_hour = 2}};
  EXPECT_EQ(quota.call("k", 0ms).retry_after, std::nullopt);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(quota.call("k", 30s).retry_after, Millis{30'000});
  EXPECT_EQ(quota.call("k", 60s).retry_after, std::nullopt) << "the hour had one left";
  EXPECT_EQ(quota.call("k", 120s).retry_after, Millis{3'480'000}) << "of both windows the later";
}

TEST(AQuota, SaysWhatIsLeftOfTheMinute) {
  QuotaWindows quota{{.per_minute = 2}};
  EXPECT_EQ(quota.call("k", 0ms).remaining, 1);
  EXPECT_EQ(quota.call("k", 1s).remaining, 0);
  EXPECT_EQ(quota.call("k", 2s).remaining, std::nullopt) << "refused";
  EXPECT_EQ(quota.call("k", 60s).remaining, 1);
}

TEST(AQuota, OfZeroIsNone) {
  QuotaWindows quota{{}};
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(quota.call("k", 0ms).retry_after, std::nullopt);
}

}  // namespace
}  // namespace coderunner::sim
