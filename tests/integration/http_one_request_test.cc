#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "adapters/http_server/http_server.h"
#include "tests/integration/http_bytes.h"

namespace coderunner {
namespace {

// answer_one_request: the worker's side of an accepted connection.
class OneRequest : public ::testing::Test {
 public:
  OneRequest() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0); }
  ~OneRequest() override { close(ends[0]); }

 protected:
  std::string read_to_end() {
    std::string all;
    char chunk[4096];
    for (ssize_t got = 0; (got = recv(ends[0], chunk, sizeof chunk, 0)) > 0;)
      all.append(chunk, static_cast<std::size_t>(got));
    return all;
  }
  void send(std::string_view bytes) {
    ASSERT_EQ(::send(ends[0], bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  int ends[2] = {-1, -1};
};

TEST_F(OneRequest, IsAnsweredAndTheConnectionClosed) {
  send("POST /run HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_TRUE(answer_one_request(ends[1], {}, echo));
  const std::string answer = read_to_end();
  EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("POST /run? <hi>")) << answer;
}

TEST_F(OneRequest, ThatNeverComesIsGivenUp) {
  OneRequestLimits limits;
  limits.request_timeout = 50ms;
  bool called = false;
  const auto done = answer_one_request(ends[1], limits, [&](const HttpRequest&) {
    called = true;
    return HttpResponse{};
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, Failure::unavailable);
  EXPECT_FALSE(called);
  EXPECT_EQ(read_to_end(), "");
}

TEST_F(OneRequest, ThatIsMalformedIsRefusedAndReportedAsTheClientsFault) {
  send("nonsense\r\n\r\n");
  shutdown(ends[0], SHUT_WR);
  const auto done = answer_one_request(ends[1], {}, echo);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, Failure::invalid_input);
  EXPECT_TRUE(read_to_end().starts_with("HTTP/1.1 400 "));
}

TEST_F(OneRequest, WithTrailersOrAChunkExtensionOverTheHeaderLimitIsRefused) {
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  close(ends[1]);
  for (const std::string& rest :
       {"0\r\nX: " + std::string(66'000, 'y') + "\r\n\r\n", "1;" + std::string(66'000, 'x')}) {
    int pair[2] = {-1, -1};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    close(std::exchange(ends[0], pair[0]));
    send(head + rest);
    shutdown(ends[0], SHUT_WR);
    const auto done = answer_one_request(pair[1], {}, echo);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, Failure::invalid_input);
    EXPECT_TRUE(read_to_end().starts_with("HTTP/1.1 431 "));
  }
}

TEST_F(OneRequest, MayTakeLongerToAnswerThanToArrive) {
  OneRequestLimits limits;
  limits.request_timeout = 50ms;
  send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(answer_one_request(ends[1], limits, [](const HttpRequest& request) {
    std::this_thread::sleep_for(150ms);
    return echo(request);
  }));
  EXPECT_TRUE(read_to_end().ends_with("GET /? <>"));
}

TEST_F(OneRequest, WhoseAnswerCannotBeWrittenIsReported) {
  send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const auto done = answer_one_request(ends[1], {}, [](const HttpRequest&) {
    HttpResponse response;
    response.headers = {{"X-Long", std::string(70'000, 'x')}};
    return response;
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, Failure::unavailable);
  EXPECT_EQ(read_to_end(), "");
}

TEST_F(OneRequest, WhoseClientLeftIsReported) {
  send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  shutdown(ends[0], SHUT_RD);
  const auto done = answer_one_request(ends[1], {}, echo);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, Failure::unavailable);
}

}  // namespace
}  // namespace coderunner
