#include "adapters/http_client/http_client.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "adapters/http_server/http_server.h"
#include "tests/integration/temp_folder.h"

namespace coderunner {
namespace {

using namespace std::chrono_literals;

class HttpClientTest : public testing::Test {
 protected:
  // Serves whatever `answer_` says, telling what it was asked in a header's stead: in the body.
  void serve(const std::string& listen) {
    auto server =
        start_http_server({.listen = listen}, [this](HttpRequest request, HttpRespond respond) {
          HttpResponse response = answer_;
          if (response.body.empty())
            response.body = request.method + " " + request.path + "?" + request.query + " " +
                            std::string{request.header("authorization")} + " " + request.body;
          respond(response);
        });
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
  }
  std::string url() const {
    const std::string& address = server_->address();
    return address.starts_with("unix:") ? address : "http://" + address;
  }

  HttpResponse answer_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpClientTest, SendsAndReceivesOverTcpAndKeepsWhateverStatusComes) {
  serve("127.0.0.1:0");
  HttpClient client{{.url = url(), .token = "t0ken"}};
  EXPECT_EQ(*client.send({.path = "/a?b=1"}), (ClientAnswer{200, "GET /a?b=1 Bearer t0ken "}));
  EXPECT_EQ(*client.send({.method = "POST", .path = "/c", .json = "{}"}),
            (ClientAnswer{200, "POST /c? Bearer t0ken {}"}));
  EXPECT_EQ(client.send({.path = "/d"})->body, "GET /d? Bearer t0ken ");
  answer_ = {.status = 503, .headers = {}, .body = "later"};
  EXPECT_EQ(*client.send({.path = "/a"}), (ClientAnswer{503, "later"}));
  answer_ = {.status = 302, .headers = {{"Location", url() + "/x"}}, .body = "moved"};
  EXPECT_EQ(*client.send({.path = "/a"}), (ClientAnswer{302, "moved"}));
}

TEST_F(HttpClientTest, SpeaksOverAUnixSocketWithoutATokenOfNobodys) {
  const TempFolder folder;
  serve("unix:" + folder / "http.sock");
  HttpClient client{{.url = url(), .token = ""}};
  EXPECT_EQ(*client.send({.path = "/a"}), (ClientAnswer{200, "GET /a?  "}));
}

TEST_F(HttpClientTest, TellsAServerThatIsNotThereFromAnAnswerThatNeverCame) {
  serve("127.0.0.1:0");
  const std::string address = url();
  answer_.drop_connection = true;
  {
    HttpClient client{{.url = address, .token = ""}};
    EXPECT_EQ(client.send({.path = "/a"}).error().kind, Failure::unavailable);
    EXPECT_EQ(client.send({.method = "POST", .path = "/a", .json = "{}"}).error().kind,
              Failure::unknown_outcome);
  }
  server_.reset();
  HttpClient client{{.url = address, .token = ""}};
  EXPECT_EQ(client.send({.path = "/a"}).error().kind, Failure::unavailable);
  EXPECT_EQ(client.send({.method = "POST", .path = "/a", .json = "{}"}).error().kind,
            Failure::unavailable);
}

TEST_F(HttpClientTest, GivesUpOnAnAnswerThatIsTooLargeOrTooLate) {
  answer_.body = std::string(2000, 'x');
  serve("127.0.0.1:0");
  HttpClient small{{.url = url(), .token = "", .max_answer = 1999}};
  EXPECT_EQ(small.send({.path = "/a"}).error().kind, Failure::internal);

  std::optional<HttpRespond> held;
  auto server = start_http_server(
      {.listen = "127.0.0.1:0"},
      [&held](const HttpRequest&, HttpRespond respond) { held = std::move(respond); });
  ASSERT_TRUE(server);
  HttpClient hasty{{.url = "http://" + (*server)->address(), .token = "", .timeout = 200ms}};
  EXPECT_EQ(hasty.send({.path = "/a"}).error().kind, Failure::unavailable);
  (*server)->stop(0ms);
}

}  // namespace
}  // namespace coderunner
