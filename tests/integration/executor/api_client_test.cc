// The API client on a real wire: what goes out, what comes back, what is never sent twice.
#include <gtest/gtest.h>

#include <atomic>

#include "adapters/system/system_clock.h"
#include "domain/limits.h"
#include "executor/curl_api_client.h"
#include "executor/poll_until.h"
#include "tests/integration/executor/loopback_api.h"

namespace coderunner::executor_test {
namespace {

using executor::ApiAnswer;
using executor::ApiRequest;
using executor::CurlApiClient;
using executor::RunEnd;

// Ends the run when the other end of a pipe closes, or at the wall.
class PipeWatch final : public executor::RunWatch {
 public:
  PipeWatch(const Clock& clock, int pipe) : clock_(clock), pipe_(pipe) {}
  MonoTime wall() const override { return clock_.mono_now() + Millis{60'000}; }
  std::vector<int> descriptors() const override {
    return pipe_ < 0 ? std::vector<int>{} : std::vector<int>{pipe_};
  }
  std::optional<RunEnd> look() override {
    pollfd polled{pipe_, POLLIN, 0};
    if (pipe_ >= 0 && ::poll(&polled, 1, 0) > 0) return RunEnd::stop;
    return std::nullopt;
  }
  std::optional<RunEnd> wait_until(MonoTime) override { return look(); }

 private:
  const Clock& clock_;
  int pipe_;
};

class ApiClientTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { executor::prepare_curl(); }

  ApiAnswer perform(CurlApiClient& client, const std::string& method, const std::string& path,
                    std::optional<std::string> body = {}, Millis limit = Millis{10'000}) {
    PipeWatch watch{clock, -1};
    return client.perform({method, path, std::move(body), clock.mono_now() + limit}, watch);
  }
  CurlApiClient client_of(const LoopbackApi& api) const {
    return CurlApiClient{{api.base() + "/acme/api/v2", "secret-key"}, clock};
  }
  SystemClock clock;
};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(ApiClientTest, SendsTheCallWithTheKeyAndReadsTheAnswer) {
  const LoopbackApi api{[](const SeenRequest&) {
    return http_answer(200, R"({"data":1})",
                       "x-ratelimit-perminute-REMAINING: 12\r\nRetry-After:  7 \r\n"
                       "Date: Mon, 24 Aug 2026 12:08:00 GMT\r\nretry-after: 9\r\n");
  }};
  auto client = client_of(api);
  const ApiAnswer answer = perform(client, "POST", "/cards?x=1", R"({"t":1})");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, R"({"data":1})");
  EXPECT_EQ(answer.remaining, 12);
  EXPECT_EQ(answer.retry_after, (std::vector<std::string>{"7", "9"}));
  EXPECT_EQ(answer.date, "Mon, 24 Aug 2026 12:08:00 GMT");
  const std::string text = api.seen().at(0).text;
  EXPECT_TRUE(text.starts_with("POST /acme/api/v2/cards?x=1 HTTP/1.1\r\n")) << text;
  EXPECT_TRUE(holds(text, "apikey: secret-key\r\n")) << text;
  EXPECT_TRUE(holds(text, "Content-Type: application/json\r\n")) << text;
  EXPECT_FALSE(holds(text, "Expect:")) << text;
  EXPECT_TRUE(text.ends_with("\r\n\r\n{\"t\":1}")) << text;
}

TEST_F(ApiClientTest, UsesEachMethodAsItIs) {
  const LoopbackApi api{[](const SeenRequest&) { return http_answer(204, ""); }};
  auto client = client_of(api);
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"})
    EXPECT_EQ(perform(client, method, "/x").status, 204) << method;
  EXPECT_EQ(perform(client, "DELETE", "/x", "{}").status, 204);
  const auto seen = api.seen();
  ASSERT_EQ(seen.size(), 6U);
  EXPECT_TRUE(seen[0].text.starts_with("GET ") && seen[1].text.starts_with("POST ") &&
              seen[2].text.starts_with("PUT ") && seen[3].text.starts_with("PATCH ") &&
              seen[4].text.starts_with("DELETE ") && seen[5].text.ends_with("{}"));
  EXPECT_TRUE(holds(seen[1].text, "Content-Length: 0")) << seen[1].text;
}

TEST_F(ApiClientTest, ReusesAConnectionForGetAndNeverForAnythingElse) {
  const LoopbackApi api{[](const SeenRequest&) { return http_answer(200, "{}"); }};
  auto client = client_of(api);
  for (const char* method : {"GET", "GET", "POST", "GET", "POST"}) perform(client, method, "/x");
  const auto seen = api.seen();
  ASSERT_EQ(seen.size(), 5U);
  EXPECT_EQ(seen[0].connection, seen[1].connection);
  EXPECT_EQ(seen[0].connection, seen[3].connection);
  EXPECT_NE(seen[2].connection, seen[0].connection);
  EXPECT_NE(seen[4].connection, seen[2].connection);
}

TEST_F(ApiClientTest, ReadsAPostOnceThoughTheServerClosesAfterReadingIt) {
  const LoopbackApi api{[](const SeenRequest& request) {
    return request.text.starts_with("GET") ? http_answer(200, "{}") : std::string{};
  }};
  auto client = client_of(api);
  EXPECT_EQ(perform(client, "GET", "/x").status, 200);  // a connection is kept alive
  const ApiAnswer answer = perform(client, "POST", "/cards", "{}");
  EXPECT_EQ(answer.status, std::nullopt);
  EXPECT_FALSE(answer.problem.empty());
  EXPECT_EQ(api.seen().size(), 2U);
}

TEST_F(ApiClientTest, FollowsNoRedirect) {
  const LoopbackApi elsewhere{[](const SeenRequest&) { return http_answer(200, "{}"); }};
  const LoopbackApi api{[&](const SeenRequest&) {
    return http_answer(302, "", "Location: " + elsewhere.base() + "/x\r\n");
  }};
  auto client = client_of(api);
  EXPECT_EQ(perform(client, "GET", "/x").status, 302);
  EXPECT_TRUE(elsewhere.seen().empty());
}

TEST_F(ApiClientTest, TakesNoMoreThanTheCap) {
  const LoopbackApi api{[](const SeenRequest&) {
    return http_answer(200, std::string(limits::kMaxApiAnswerBytes + 1, 'x'));
  }};
  auto client = client_of(api);
  const ApiAnswer answer = perform(client, "GET", "/x");
  EXPECT_TRUE(answer.is_too_large);
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.body.empty());
}

TEST_F(ApiClientTest, GivesUpWhenItsTimeIsOver) {
  const LoopbackApi api{[](const SeenRequest&) { return LoopbackApi::kSilence; }};
  auto client = client_of(api);
  const MonoTime began = clock.mono_now();
  const ApiAnswer answer = perform(client, "GET", "/x", {}, Millis{200});
  EXPECT_EQ(answer.status, std::nullopt);
  EXPECT_FALSE(holds(answer.problem, "secret-key"));
  EXPECT_LT(clock.mono_now() - began, Millis{1'500});
  EXPECT_EQ(perform(client, "GET", "/x", {}, Millis{0}).problem, "no time left");
}

TEST_F(ApiClientTest, LetsGoAtOnceWhenTheRunEnds) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  const executor::Descriptor read{ends[0]};
  executor::Descriptor write{ends[1]};
  const LoopbackApi api{[&write](const SeenRequest&) {
    write.close();
    return LoopbackApi::kSilence;
  }};
  auto client = client_of(api);
  PipeWatch watch{clock, read.get()};
  const MonoTime began = clock.mono_now();
  const ApiAnswer answer =
      client.perform({"POST", "/x", "{}", clock.mono_now() + Millis{20'000}}, watch);
  EXPECT_EQ(answer.ended, RunEnd::stop);
  EXPECT_EQ(answer.status, std::nullopt);
  EXPECT_LT(clock.mono_now() - began, Millis{1'500});
}

TEST_F(ApiClientTest, SaysWhatKeptItFromAnAnswer) {
  CurlApiClient refused{{"http://127.0.0.1:9", "k"}, clock};
  EXPECT_EQ(perform(refused, "GET", "/x").problem, "Couldn't connect to server");
  CurlApiClient keyless{{"http://127.0.0.1:9", ""}, clock};
  EXPECT_EQ(perform(keyless, "GET", "/x").problem, "the API key can not be sent");
  CurlApiClient split{{"http://127.0.0.1:9", "k\r\nHost: x"}, clock};
  EXPECT_EQ(perform(split, "GET", "/x").problem, "the API key can not be sent");
}

}  // namespace
}  // namespace coderunner::executor_test
