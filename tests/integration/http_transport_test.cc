#include "adapters/http_transport/http_transport.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "adapters/system/system_clock.h"
#include "tests/integration/http_bytes.h"

namespace coderunner {
namespace {

const Dispatch kDispatch{ExecutionId{7}, JobId{42}, Nonce{"0123456789abcdef0123456789abcdef"}};

std::unique_ptr<HttpTransport> transport_to(const std::string& address, Millis timeout = 10s) {
  HttpTransportOptions options;
  options.url = "http://" + address + "/codeRunner/runAsync";
  options.timeout = timeout;
  return std::make_unique<HttpTransport>(options);
}

std::vector<DispatchAnswer> wait_for(HttpTransport& transport, std::size_t count) {
  const SystemClock clock;
  const MonoTime give_up = clock.mono_now() + 10s;
  std::vector<DispatchAnswer> answers;
  while (answers.size() < count && clock.mono_now() < give_up) {
    transport.wait(1s);
    for (auto& answer : transport.poll()) answers.push_back(std::move(answer));
  }
  EXPECT_EQ(answers.size(), count);
  return answers;
}

DispatchAnswer answer_to(HttpTransport& transport, const Dispatch& dispatch = kDispatch) {
  transport.start(dispatch);
  auto answers = wait_for(transport, 1);
  return answers.empty() ? DispatchAnswer{} : answers.front();
}

// Listens and says nothing by itself: what a broken executor does is the test's business.
class SilentListener {
 public:
  SilentListener() {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof at;
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    EXPECT_EQ(listen(fd_, 8), 0);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &length);
    address_ = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
  }
  SilentListener(const SilentListener&) = delete;
  SilentListener& operator=(const SilentListener&) = delete;
  ~SilentListener() { close(fd_); }
  const std::string& address() const { return address_; }

  // Accepts one connection, reads the request's header, writes `bytes` and closes.
  void answer_with(const std::string& bytes) const {
    const int client = accept(fd_, nullptr, nullptr);
    char chunk[4096];
    std::string seen;
    while (seen.find("asyncNonce=") == std::string::npos) {
      const ssize_t got = recv(client, chunk, sizeof chunk, 0);
      if (got <= 0) break;
      seen.append(chunk, static_cast<std::size_t>(got));
    }
    EXPECT_EQ(::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    close(client);
  }

 private:
  int fd_ = socket(AF_INET, SOCK_STREAM, 0);
  std::string address_;
};

DispatchAnswer answer_from(const std::string& bytes) {
  const SilentListener executor;
  const auto answering = std::async(std::launch::async, [&] { executor.answer_with(bytes); });
  const auto transport = transport_to(executor.address());
  return answer_to(*transport);
}

TEST(HttpTransport, PostsTheJobAndItsNonceAsAForm) {
  std::promise<HttpRequest> seen;
  const auto server = start([&](HttpRequest request, const HttpRespond& respond) {
    seen.set_value(std::move(request));
    respond(text("{}"));
  });
  const auto transport = transport_to(server->address());
  const DispatchAnswer answer = answer_to(*transport);
  EXPECT_EQ(answer.execution, kDispatch.execution);
  EXPECT_EQ(answer.http_status, 200);
  EXPECT_FALSE(answer.never_sent);
  EXPECT_EQ(answer.error, "");
  const HttpRequest request = seen.get_future().get();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/codeRunner/runAsync");
  EXPECT_EQ(request.header("content-type"), "application/x-www-form-urlencoded");
  const std::vector<std::pair<std::string, std::string>> fields{
      {"jobId", "42"}, {"asyncNonce", "0123456789abcdef0123456789abcdef"}};
  EXPECT_EQ(parse_form(request.body), fields);
}

TEST(HttpTransport, TellsTheStatusAndTheWordsOfARefusal) {
  const auto server = start([](const HttpRequest&, const HttpRespond& respond) {
    HttpResponse response = text("no room");
    response.status = 503;
    respond(std::move(response));
  });
  const auto transport = transport_to(server->address());
  const DispatchAnswer answer = answer_to(*transport);
  EXPECT_EQ(answer.http_status, 503);
  EXPECT_FALSE(answer.never_sent);
  EXPECT_EQ(answer.error, "HTTP 503: no room");
}

TEST(HttpTransport, ARefusedConnectionIsProvedNeverSent) {
  std::string address;
  {
    const SilentListener gone;
    address = gone.address();
  }
  const auto transport = transport_to(address);
  const DispatchAnswer answer = answer_to(*transport);
  EXPECT_EQ(answer.http_status, std::nullopt);
  EXPECT_TRUE(answer.never_sent);
  EXPECT_NE(answer.error, "");
}

TEST(HttpTransport, AnUnresolvedNameIsProvedNeverSent) {
  const auto transport = transport_to("no-such-host.invalid:80");
  const DispatchAnswer answer = answer_to(*transport);
  EXPECT_EQ(answer.http_status, std::nullopt);
  EXPECT_TRUE(answer.never_sent);
}

TEST(HttpTransport, AConnectionClosedWithoutAnAnswerIsDoubtful) {
  const DispatchAnswer answer = answer_from("");
  EXPECT_EQ(answer.http_status, std::nullopt);
  EXPECT_FALSE(answer.never_sent);
  EXPECT_NE(answer.error, "");
}

TEST(HttpTransport, ATruncated200IsNoAnswer) {
  for (const std::string bytes :
       {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"execution_id\"",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{\"exec",
        "HTTP/1.1 200 OK\r\nConte"}) {
    const DispatchAnswer answer = answer_from(bytes);
    EXPECT_EQ(answer.http_status, std::nullopt) << bytes;
    EXPECT_FALSE(answer.never_sent) << bytes;
    EXPECT_NE(answer.error, "") << bytes;
  }
}

TEST(HttpTransport, AnInterimAnswerIsNotTheAnswer) {
  EXPECT_EQ(answer_from("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nConte").http_status,
            std::nullopt);
  EXPECT_EQ(answer_from("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: "
                        "chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Trailer: 1\r\n\r\n")
                .http_status,
            200);
}

TEST(HttpTransport, AnEndlessAnswerIsCut) {
  const auto server = start([](const HttpRequest&, const HttpRespond& respond) {
    respond(text(std::string(limits::kMaxDispatchAnswerBytes + 1, 'x')));
  });
  const auto transport = transport_to(server->address());
  EXPECT_EQ(answer_to(*transport).http_status, std::nullopt);
}

TEST(HttpTransport, ALongErrorPageIsClamped) {
  const auto server = start([](const HttpRequest&, const HttpRespond& respond) {
    HttpResponse response = text(std::string(100'000, 'x'));
    response.status = 502;
    respond(std::move(response));
  });
  const auto transport = transport_to(server->address());
  const DispatchAnswer answer = answer_to(*transport);
  EXPECT_EQ(answer.http_status, 502);
  EXPECT_LE(answer.error.size(), limits::kMaxDispatchErrorBytes);
}

TEST(HttpTransport, ADispatchIsAnsweredByItsOwnTimeLimit) {
  Held held;
  const auto server = start(held.handler());
  const auto transport = transport_to(server->address(), 100ms);
  const DispatchAnswer answer = answer_to(*transport);
  EXPECT_EQ(answer.http_status, std::nullopt);
  EXPECT_FALSE(answer.never_sent);
}

TEST(HttpTransport, ARedirectIsAnAnswerLikeAnyOther) {
  std::atomic<int> requests{0};
  const auto server = start([&](const HttpRequest&, const HttpRespond& respond) {
    ++requests;
    HttpResponse response;
    response.status = 307;
    response.headers = {{"Location", "/elsewhere"}};
    respond(std::move(response));
  });
  const auto transport = transport_to(server->address());
  EXPECT_EQ(answer_to(*transport).http_status, 307);
  EXPECT_EQ(requests, 1);
}

TEST(HttpTransport, EveryDispatchHasAConnectionOfItsOwn) {
  std::mutex mutex;
  std::set<std::string> peers;
  const auto server = start([&](const HttpRequest& request, const HttpRespond& respond) {
    const std::lock_guard lock{mutex};
    peers.insert(request.peer);
    respond({});
  });
  const auto transport = transport_to(server->address());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(answer_to(*transport).http_status, 200);
  EXPECT_EQ(peers.size(), 3U);
}

TEST(HttpTransport, ManyDispatchesAreOutstandingAtOnceAndEachIsAnsweredOnce) {
  std::mutex mutex;
  std::vector<HttpRespond> held;
  const auto server = start([&](const HttpRequest&, HttpRespond respond) {
    const std::lock_guard lock{mutex};
    held.push_back(std::move(respond));
    if (held.size() < 8) return;
    for (const auto& waiting : held) waiting({});
  });
  const auto transport = transport_to(server->address());
  for (int i = 1; i <= 8; ++i) transport->start({ExecutionId{i}, JobId{i}, kDispatch.nonce});
  std::map<std::int64_t, int> answers;
  for (const auto& answer : wait_for(*transport, 8)) ++answers[answer.execution.value];
  EXPECT_EQ(answers.size(), 8U);
  EXPECT_TRUE(transport->poll().empty());
}

TEST(HttpTransport, AProxyOfTheEnvironmentIsIgnored) {
  const auto server = start(echo_handler);
  setenv("http_proxy", "http://127.0.0.1:1", 1);
  const auto transport = transport_to(server->address());
  const DispatchAnswer answer = answer_to(*transport);
  unsetenv("http_proxy");
  EXPECT_EQ(answer.http_status, 200) << answer.error;
}

TEST(HttpTransport, AnExecutorMayListenOnAUnixSocket) {
  const TemporaryFolder folder;
  HttpServerOptions listen;
  listen.listen = "unix:" + folder.file("s");
  const auto server = start(echo_handler, listen);
  HttpTransportOptions options;
  options.url = "http://executor/codeRunner/runAsync";
  options.unix_socket = folder.file("s");
  options.timeout = 10s;
  HttpTransport transport{options};
  EXPECT_EQ(answer_to(transport).http_status, 200);
}

TEST(HttpTransport, AnotherThreadEndsAWait) {
  const auto transport = transport_to("127.0.0.1:1");
  const SystemClock clock;
  const MonoTime before = clock.mono_now();
  std::thread waking{[&] { transport->wake(); }};
  transport->wait(30s);
  waking.join();
  transport->wake();  // before the wait: remembered
  transport->wait(30s);
  EXPECT_LT(clock.mono_now() - before, 10s);
}

TEST(HttpTransport, AnAnswerEndsAWait) {
  Held held;
  const auto server = start(held.handler());
  const auto transport = transport_to(server->address());
  transport->start(kDispatch);
  std::thread answering{[&] { held.wait_for_one()({}); }};
  EXPECT_EQ(wait_for(*transport, 1).size(), 1U);
  answering.join();
}

TEST(HttpTransport, WhatIsGivenUpIsAnsweredOnceAsDoubtful) {
  Held held;
  const auto server = start(held.handler());
  const auto transport = transport_to(server->address());
  transport->start(kDispatch);
  const HttpRespond respond = held.wait_for_one();
  transport->cancel_all();
  const auto answers = transport->poll();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].execution, kDispatch.execution);
  EXPECT_EQ(answers[0].http_status, std::nullopt);
  EXPECT_FALSE(answers[0].never_sent);
  EXPECT_TRUE(transport->poll().empty());
}

TEST(HttpTransport, AUrlThatIsNotHttpIsNeverSentTo) {
  for (const char* url : {"", "ftp://127.0.0.1:1/", "file:///etc/hostname"}) {
    HttpTransportOptions options;
    options.url = url;
    options.timeout = 1s;
    HttpTransport transport{options};
    const DispatchAnswer answer = answer_to(transport);
    EXPECT_EQ(answer.http_status, std::nullopt) << url;
    EXPECT_TRUE(answer.never_sent) << url;
    EXPECT_NE(answer.error, "") << url;
  }
}

}  // namespace
}  // namespace coderunner
