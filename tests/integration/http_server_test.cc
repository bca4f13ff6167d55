#include "adapters/http_server/http_server.h"

#include <gtest/gtest.h>

#include <future>

#include "tests/integration/http_bytes.h"

namespace coderunner {
namespace {

class FixedClock final : public Clock {
 public:
  UtcTime utc_now() const override { return *from_rfc3339("2026-08-24T12:08:09.500Z"); }
  MonoTime mono_now() const override { return MonoTime{}; }
};

TEST(HttpServer, OneConnectionCarriesManyRequests) {
  const auto server = start(echo_handler);
  RawClient client{server->address()};
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.send("GET /a%20b?x=1 HTTP/1.1\r\nHost: h\r\n\r\n"));
    const std::string answer = client.read_until("GET /a%20b?x=1 <>");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  }
}

TEST(HttpServer, RequestsSentInOneGoAreAnsweredInOrder) {
  const auto server = start(echo_handler);
  RawClient client{server->address()};
  ASSERT_TRUE(
      client.send("POST /one HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET /two "
                  "HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
  const std::string answer = client.read_to_end();
  EXPECT_LT(answer.find("POST /one? <abc>"), answer.find("GET /two? <>"));
  EXPECT_NE(answer.find("GET /two? <>"), std::string::npos);
}

TEST(HttpServer, HeadersArriveInLowerCaseAndRepeatedOnesAreJoined) {
  std::promise<HttpRequest> seen;
  const auto server = start([&](HttpRequest request, const HttpRespond& respond) {
    seen.set_value(std::move(request));
    respond({});
  });
  RawClient client{server->address()};
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: h\r\nX-One: a\r\nx-one: b\r\n\r\n"));
  client.read_until("\r\n\r\n");
  const HttpRequest request = seen.get_future().get();
  EXPECT_EQ(request.header("x-one"), "a, b");
  EXPECT_TRUE(request.peer.starts_with("127.0.0.1:")) << request.peer;
}

TEST(HttpServer, HeadIsAnsweredWithTheLengthAndWithoutTheBody) {
  const auto server = start(echo_handler);
  RawClient client{server->address()};
  ASSERT_TRUE(client.send("HEAD /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
  const std::string answer = client.read_to_end();
  EXPECT_NE(answer.find("Content-Length: 11\r\n"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
}

TEST(HttpServer, NoContentCarriesNoLength) {
  const auto server = start([](const HttpRequest&, const HttpRespond& respond) {
    HttpResponse response;
    response.status = 204;
    respond(std::move(response));
  });
  RawClient client{server->address()};
  ASSERT_TRUE(client.send("DELETE / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
  const std::string answer = client.read_to_end();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 204 ")) << answer;
  EXPECT_EQ(answer.find("Content-Length"), std::string::npos) << answer;
}

TEST(HttpServer, DateComesFromTheClockItWasGiven) {
  const FixedClock clock;
  HttpServerOptions options;
  options.clock = &clock;
  const auto server = start(echo_handler, options);
  RawClient client{server->address()};
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_NE(client.read_until("\r\n\r\n").find("Date: Mon, 24 Aug 2026 12:08:09 GMT\r\n"),
            std::string::npos);
}

TEST(HttpServer, AHeaderValueCannotStartALineOfItsOwn) {
  const auto server = start([](const HttpRequest&, const HttpRespond& respond) {
    HttpResponse response;
    response.headers = {{"X-Request-Id", "a\r\nX-Evil: 1"}};
    respond(std::move(response));
  });
  RawClient client{server->address()};
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_EQ(client.read_until("\r\n\r\n").find("\r\nX-Evil"), std::string::npos);
}

TEST(HttpServer, AChunkedBodyArrivesWhole) {
  const auto server = start(echo_handler);
  RawClient client{server->address()};
  ASSERT_TRUE(
      client.send("POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
                  "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"));
  EXPECT_NE(client.read_until("<abcde>").find(" 200 "), std::string::npos);
}

TEST(HttpServer, AChunkedBodyOverTheLimitIsRefused) {
  HttpServerOptions options;
  options.max_body = 4;
  const auto server = start(echo_handler, options);
  RawClient client{server->address()};
  ASSERT_TRUE(
      client.send("POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
                  "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"));
  client.finish_sending();
  EXPECT_TRUE(client.read_to_end().starts_with("HTTP/1.1 413 "));
}

TEST(HttpServer, AClientThatSendsThreeMegabytesReadsThe413) {
  const auto server = start(echo_handler);
  RawClient client{server->address()};
  ASSERT_TRUE(client.send("POST /big HTTP/1.1\r\nHost: h\r\nContent-Length: 3145728\r\n\r\n"));
  ASSERT_TRUE(client.send(std::string(3145728, 'x')));
  const std::string answer = client.read_to_end();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 413 ")) << answer;
  EXPECT_TRUE(answer.ends_with(
      R"({"error":{"code":413,"message":"the body is over 1048576 bytes","details":{}}})"))
      << answer;
  EXPECT_FALSE(client.reset);
}

TEST(HttpServer, AClientThatAsksBeforeSendingIsToldToGoOn) {
  const auto server = start(echo_handler);
  RawClient client{server->address()};
  ASSERT_TRUE(client.send(
      "POST /e HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"));
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  ASSERT_TRUE(client.send("hi"));
  EXPECT_NE(client.read_until("<hi>").find(" 200 "), std::string::npos);
}

TEST(HttpServer, AClientThatAsksBeforeSendingTooMuchIsRefusedAtOnce) {
  const auto server = start(echo_handler);
  RawClient client{server->address()};
  ASSERT_TRUE(client.send(
      "POST /e HTTP/1.1\r\nHost: h\r\nContent-Length: 3145728\r\nExpect: 100-continue\r\n\r\n"));
  EXPECT_TRUE(client.read_until("\r\n\r\n").starts_with("HTTP/1.1 413 "));
}

TEST(HttpServer, AHeaderOverSixteenKibibytesIsRefused) {
  const auto server = start(echo_handler);
  RawClient client{server->address()};
  client.send("GET / HTTP/1.1\r\nHost: h\r\nX-Long: " + std::string(20 * 1024, 'x') + "\r\n\r\n");
  EXPECT_TRUE(client.read_until("}}").starts_with("HTTP/1.1 431 "));
}

constexpr std::string_view kChunked =
    "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";

TEST(HttpServer, TrailersOverTheHeaderLimitAreRefusedAndTheServerLivesOn) {
  const auto server = start(echo_handler);
  for (const std::size_t bytes : {limits::kMaxHeaderBytes, std::size_t{66'000}}) {
    RawClient client{server->address()};
    client.send(std::string{kChunked} + "0\r\nX: " + std::string(bytes, 'y') + "\r\n\r\n");
    EXPECT_TRUE(client.read_until("}}").starts_with("HTTP/1.1 431 ")) << bytes;
  }
  RawClient client{server->address()};
  client.send(std::string{kChunked} + "2\r\nhi\r\n0\r\nX: " + std::string(10'000, 'y') +
              "\r\n\r\n");
  client.read_until("POST /c? <hi>");
}

TEST(HttpServer, AChunkExtensionWithoutEndIsRefusedBeforeItFillsTheMemory) {
  const auto server = start(echo_handler);
  for (const std::string_view start_of_chunk : {"1;", "2\r\nhi\r\n1;", "2\r\nhi\r\n0;", "000000"}) {
    RawClient client{server->address()};
    client.send(std::string{kChunked} + std::string{start_of_chunk} +
                std::string(64 * 1024, start_of_chunk == "000000" ? '0' : 'x'));
    EXPECT_TRUE(client.read_until("}}").starts_with("HTTP/1.1 431 ")) << start_of_chunk;
  }
}

TEST(HttpServer, ManyChunksWithExtensionsWithinTheLimitMakeOneBody) {
  const auto server = start(echo_handler);
  RawClient client{server->address()};
  std::string request{kChunked};
  for (int i = 0; i < 20; ++i) request += "1;" + std::string(12'000, 'x') + "\r\na\r\n";
  client.send(request + "0\r\n\r\n");
  client.read_until("<" + std::string(20, 'a') + ">");
}

TEST(HttpServer, MalformedRequestsAreAnsweredWithAJsonError) {
  const auto server = start(echo_handler);
  for (const std::string_view bytes :
       {"this is no request\r\n\r\n", "GET nowhere HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nBad Name: x\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: abc\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n"}) {
    RawClient client{server->address()};
    ASSERT_TRUE(client.send(bytes));
    const std::string answer = client.read_until("}}");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << bytes << " -> " << answer;
    EXPECT_NE(answer.find(R"({"error":{"code":400,"message":")"), std::string::npos) << answer;
  }
}

TEST(HttpServer, ATransferCodingItCannotReadIsNotTakenForAnEmptyBody) {
  const auto server = start(echo_handler);
  RawClient client{server->address()};
  ASSERT_TRUE(client.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n"));
  EXPECT_TRUE(client.read_until("}}").starts_with("HTTP/1.1 501 "));
}

}  // namespace
}  // namespace coderunner
