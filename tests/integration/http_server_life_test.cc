#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "adapters/http_server/http_server.h"
#include "tests/integration/http_bytes.h"

namespace coderunner {
namespace {

TEST(HttpServer, AClientThatIsTooSlowIsCutHoweverOftenItSendsAByte) {
  HttpServerOptions options;
  options.request_timeout = 150ms;
  const auto server = start(echo_handler, options);
  RawClient client{server->address()};
  const std::string_view bytes =
      "GET / HTTP/1.1\r\nHost: h\r\nX-Slow: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
  bool cut = false;
  for (std::size_t i = 0; i < bytes.size() && !cut; ++i) {
    cut = !client.send(bytes.substr(i, 1));
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(cut || (client.read_to_end().empty() && client.closed));
}

TEST(HttpServer, AnIdleConnectionIsClosedAfterTheRequestTimeout) {
  HttpServerOptions options;
  options.request_timeout = 100ms;
  const auto server = start(echo_handler, options);
  RawClient client{server->address()};
  EXPECT_EQ(client.read_to_end(), "");
  EXPECT_TRUE(client.closed);
}

TEST(HttpServer, AnAnswerMayTakeLongerThanTheRequestTimeout) {
  HttpServerOptions options;
  options.request_timeout = 50ms;
  Held held;
  const auto server = start(held.handler(), options);
  RawClient client{server->address()};
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  const HttpRespond respond = held.wait_for_one();
  std::this_thread::sleep_for(150ms);
  respond(text("late"));
  EXPECT_NE(client.read_until("late").find(" 200 "), std::string::npos);
}

TEST(HttpServer, AnAnswerMayComeFromAnotherThreadWhileOthersAreServed) {
  Held held;
  const auto server = start([&](const HttpRequest& request, const HttpRespond& respond) {
    if (request.path == "/slow") return held.handler()(request, respond);
    respond(text("quick"));
  });
  RawClient slow{server->address()}, quick{server->address()};
  ASSERT_TRUE(slow.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n"));
  const HttpRespond respond = held.wait_for_one();
  ASSERT_TRUE(quick.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  quick.read_until("quick");
  std::thread{[respond] { respond(text("slow answer")); }}.join();
  slow.read_until("slow answer");
  EXPECT_FALSE(slow.closed);
}

TEST(HttpServer, ASecondAnswerIsIgnored) {
  const auto server = start([](const HttpRequest&, const HttpRespond& respond) {
    respond(text("first"));
    respond(text("second"));
  });
  RawClient client{server->address()};
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
  EXPECT_TRUE(client.read_to_end().ends_with("first"));
}

TEST(HttpServer, AHandlerThatThrowsIsAnsweredWith500) {
  const auto server =
      start([](const HttpRequest&, const HttpRespond&) { throw std::runtime_error("a secret"); });
  RawClient client{server->address()};
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  const std::string answer = client.read_until("}}");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 500 ")) << answer;
  EXPECT_EQ(answer.find("secret"), std::string::npos);
}

TEST(HttpServer, AnAnswerThatCannotBeWrittenEndsItsConnectionAndNoOther) {
  const auto server = start([](const HttpRequest& request, const HttpRespond& respond) {
    HttpResponse response = text("fine");
    if (request.path == "/bad") response.headers = {{"X-Long", std::string(70'000, 'x')}};
    respond(std::move(response));
  });
  RawClient before{server->address()};
  ASSERT_TRUE(before.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  before.read_until("fine");
  RawClient bad{server->address()};
  ASSERT_TRUE(bad.send("GET /bad HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_EQ(bad.read_to_end(), "");
  EXPECT_TRUE(bad.closed);
  RawClient after{server->address()};
  for (RawClient* client : {&before, &after}) {
    ASSERT_TRUE(client->send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
    client->read_until("fine");
    EXPECT_FALSE(client->closed);
  }
}

TEST(HttpServer, ADroppedConnectionIsClosedWithoutAnAnswer) {
  const auto server = start([](const HttpRequest&, const HttpRespond& respond) {
    HttpResponse response;
    response.drop_connection = true;
    respond(std::move(response));
  });
  RawClient client{server->address()};
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_EQ(client.read_to_end(), "");
  EXPECT_TRUE(client.closed);
}

TEST(HttpServer, StopAnswersWhatWasReadAndClosesTheIdle) {
  Held held;
  const auto server = start(held.handler());
  RawClient idle{server->address()}, busy{server->address()};
  ASSERT_TRUE(busy.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  const HttpRespond respond = held.wait_for_one();
  auto stopping = std::async(std::launch::async, [&] { server->stop(10s); });
  EXPECT_EQ(idle.read_to_end(), "");
  respond(text("last words"));
  const std::string answer = busy.read_to_end();
  EXPECT_TRUE(answer.ends_with("last words")) << answer;
  EXPECT_NE(answer.find("Connection: close"), std::string::npos) << answer;
  EXPECT_EQ(stopping.wait_for(10s), std::future_status::ready);
  EXPECT_FALSE(RawClient{server->address()}.connected());
}

TEST(HttpServer, AHandlerThatNeverAnswersDoesNotHoldUpStop) {
  Held held;
  auto server = start(held.handler());
  RawClient client{server->address()};
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  const HttpRespond respond = held.wait_for_one();
  auto stopping = std::async(std::launch::async, [&] { server->stop(50ms); });
  EXPECT_EQ(stopping.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(client.read_to_end(), "");
  server.reset();
  respond(text("nobody is there"));
}

TEST(HttpServer, RespondingWhileTheServerGoesAwayIsSafe) {
  for (int round = 0; round < 50; ++round) {
    Held held;
    auto server = start(held.handler());
    RawClient client{server->address()};
    ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
    const HttpRespond respond = held.wait_for_one();
    std::thread answering{[&] { respond(text("race")); }};
    server.reset();
    answering.join();
  }
}

TEST(HttpServer, SeveralThreadsShareTheConnections) {
  HttpServerOptions options;
  options.threads = 3;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  const auto server = start(
      [&](const HttpRequest& request, const HttpRespond& respond) {
        {
          const std::lock_guard lock{mutex};
          threads.insert(std::this_thread::get_id());
        }
        respond(echo(request));
      },
      options);
  for (int i = 0; i < 6; ++i) {
    RawClient client{server->address()};
    ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
    client.read_until("GET /? <>");
  }
  EXPECT_EQ(threads.size(), 3U);
}

TEST(HttpServer, ConnectionsBeyondTheLimitAreToldSo) {
  HttpServerOptions options;
  options.max_connections = 2;
  const auto server = start(echo_handler, options);
  RawClient first{server->address()}, second{server->address()}, third{server->address()};
  EXPECT_TRUE(third.read_until("}}").starts_with("HTTP/1.1 503 "));
  ASSERT_TRUE(first.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  first.read_until("GET /? <>");
}

TEST(HttpServer, OutOfDescriptorsItWaitsWithoutSpinningAndServesTheBacklogLater) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's check of a virtual call opens a pipe: without descriptors every "
                  "object looks stray; the release build runs this";
#endif
  const auto server = start(echo_handler);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next_free = dup(0);
  close(next_free);
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(next_free) + 1;  // room for the client's own end alone
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  RawClient client{server->address()};
  const bool connected = client.connected() && client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const auto busy = [] {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec * 1000 + used.ru_utime.tv_usec / 1000 +
           used.ru_stime.tv_sec * 1000 + used.ru_stime.tv_usec / 1000;
  };
  const long busy_before = busy();
  std::this_thread::sleep_for(400ms);
  const long busy_ms = busy() - busy_before;
  setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_TRUE(connected);
  EXPECT_LT(busy_ms, 30);  // a spin takes whatever the machine has left: over 100 here
  client.read_until("GET /? <>");
}

}  // namespace
}  // namespace coderunner
