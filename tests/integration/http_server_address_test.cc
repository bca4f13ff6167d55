#include <gtest/gtest.h>
#include <sys/stat.h>

#include "adapters/http_server/http_server.h"
#include "tests/integration/http_bytes.h"

namespace coderunner {
namespace {

TEST(HttpServer, AUnixSocketIsServedForItsGroupAndRemovedAtTheEnd) {
  const TemporaryFolder folder;
  HttpServerOptions options;
  options.listen = "unix:" + folder.file("s");
  auto server = start([](const HttpRequest& request,
                         const HttpRespond& respond) { respond(text("from " + request.peer)); },
                      options);
  ASSERT_NE(server, nullptr);
  EXPECT_EQ(server->address(), options.listen);
  struct stat status {};
  ASSERT_EQ(stat(folder.file("s").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0660U);
  RawClient client{server->address()};
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  client.read_until("from unix");
  server.reset();
  EXPECT_NE(stat(folder.file("s").c_str(), &status), 0);
}

TEST(HttpServer, AUnixPathIsTakenOverFromTheDeadButNotFromTheLiving) {
  const TemporaryFolder folder;
  const std::string path = folder.file("s");
  {
    const int dead = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    path.copy(at.sun_path, sizeof at.sun_path - 1);
    ASSERT_EQ(bind(dead, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    close(dead);
  }
  HttpServerOptions options;
  options.listen = "unix:" + path;
  const auto server = start(echo_handler, options);
  ASSERT_NE(server, nullptr);
  const auto second = start_http_server(options, echo_handler);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, Failure::unavailable);
  EXPECT_NE(second.error().message.find(path), std::string::npos) << second.error().message;
  EXPECT_TRUE(RawClient{server->address()}.connected());
}

TEST(HttpServer, AnAddressInUseIsNamed) {
  const auto server = start(echo_handler);
  HttpServerOptions options;
  options.listen = server->address();
  const auto second = start_http_server(options, echo_handler);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, Failure::unavailable);
  EXPECT_NE(second.error().message.find(server->address()), std::string::npos);
}

TEST(HttpServer, AWordThatIsNoAddressIsInvalid) {
  for (const char* listen : {"", "8080", ":8080", "host:", "host:99999", "::1:80", "unix:"}) {
    HttpServerOptions options;
    options.listen = listen;
    const auto server = start_http_server(options, echo_handler);
    ASSERT_FALSE(server) << listen;
    EXPECT_EQ(server.error().kind, Failure::invalid_input) << listen;
  }
}

TEST(HttpServer, AnIpv6AddressKeepsItsBrackets) {
  HttpServerOptions options;
  options.listen = "[::1]:0";
  const auto server = start_http_server(options, echo_handler);
  if (!server) GTEST_SKIP() << "no IPv6 loopback here: " << server.error().message;
  EXPECT_TRUE((*server)->address().starts_with("[::1]:")) << (*server)->address();
}

}  // namespace
}  // namespace coderunner
