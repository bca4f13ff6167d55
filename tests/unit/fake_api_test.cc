#include <gtest/gtest.h>

#include <set>

#include "domain/limits.h"
#include "tests/support/fake_calls.h"

namespace coderunner::fake {
namespace {

using namespace std::chrono_literals;
using namespace testing_calls;

TEST(FakeQuota, ServesAMinutesCallsAndThenRefusesUntilTheWindowsEnd) {
  ApiOptions options;
  options.quota.per_minute = 2;
  Api api{options};
  EXPECT_EQ(ask(api, {"GET", "/me"}).status, 200);
  EXPECT_EQ(ask(api, {"GET", "/me"}).status, 200);
  const HttpResponse refused = ask(api, {"GET", "/me"});
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(header(refused, "Retry-After"), "48");  // 47.655 s, rounded up
  EXPECT_EQ(body_of(refused)["error"]["code"], "RL02");
  EXPECT_EQ(body_of(refused)["error"]["details"]["retry_after"], 48);
  EXPECT_EQ(ask(api, {"GET", "/me"}, kMinuteStart + 59'999ms).status, 429);
  EXPECT_EQ(ask(api, {"GET", "/me"}, kMinuteStart + 60s).status, 200);
}

TEST(FakeQuota, AnExhaustedHourAsksForTheHoursEnd) {
  ApiOptions options;
  options.quota.per_minute = options.quota.per_hour = 1;
  Api api{options};
  ask(api, {"GET", "/me"});
  EXPECT_EQ(header(ask(api, {"GET", "/me"}), "Retry-After"), "3108");
  EXPECT_EQ(ask(api, {"GET", "/me"}, kMinuteStart + 60s).status, 429);
  EXPECT_EQ(ask(api, {"GET", "/me"}, kMinuteStart + 52min).status, 200);
}

TEST(FakeQuota, AShortMinuteMakesTheHourSixtyOfIt) {
  ApiOptions options;
  options.quota = {.per_minute = 1, .per_hour = 2, .minute = 100ms};
  Api api{options};
  EXPECT_EQ(ask(api, {"GET", "/me"}, kMinuteStart).status, 200);
  EXPECT_EQ(header(ask(api, {"GET", "/me"}, kMinuteStart + 50ms), "Retry-After"), "1");
  EXPECT_EQ(ask(api, {"GET", "/me"}, kMinuteStart + 100ms).status, 200);
  EXPECT_EQ(header(ask(api, {"GET", "/me"}, kMinuteStart + 200ms), "Retry-After"), "6");
  EXPECT_EQ(ask(api, {"GET", "/me"}, kMinuteStart + 6s).status, 200);
}

TEST(FakeQuota, IsCountedPerKeyWhateverTheAccount) {
  ApiOptions options;
  options.quota.per_minute = 1;
  Api api{options};
  EXPECT_EQ(ask(api, {"GET", "/me"}).status, 200);
  EXPECT_EQ(ask(api, {.method = "GET", .path = "/me", .account = "other"}).status, 429);
  EXPECT_EQ(ask(api, {.method = "GET", .path = "/me", .key = "key-2"}).status, 200);
}

TEST(FakeQuota, IsShownAsItStandsAfterTheCallOnEveryAnswer) {
  ApiOptions options;
  options.quota = {.per_minute = 3, .per_hour = 5};
  Api api{options};
  const auto shown = [&](const Sent& sent) {
    const HttpResponse response = ask(api, sent);
    EXPECT_NE(header(response, "X-Kanbanize-Version"), "");
    EXPECT_EQ(header(response, "X-RateLimit-PerMinute-Limit"), "3");
    EXPECT_EQ(header(response, "X-RateLimit-PerHour-Limit"), "5");
    return std::to_string(response.status) + " " +
           header(response, "X-RateLimit-PerMinute-Remaining") + " " +
           header(response, "X-RateLimit-PerHour-Remaining");
  };
  EXPECT_EQ(shown({"GET", "/me"}), "200 2 4");
  EXPECT_EQ(shown({"GET", "/cards/7"}), "404 1 3");
  EXPECT_EQ(shown({"PUT", "/me"}), "405 0 2");
  EXPECT_EQ(shown({"GET", "/me"}), "429 0 2");  // not charged
  EXPECT_EQ(shown({.method = "GET", .path = "/me", .key = ""}), "401 3 5");
}

TEST(FakeRetryAfter, ComesInEveryFormAClientMustCopeWith) {
  struct Expected {
    RetryAfterForm form;
    std::string header;
    Json body;
  };
  for (const auto& [form, wanted_header, wanted_body] :
       {Expected{RetryAfterForm::header, "48", nullptr}, Expected{RetryAfterForm::body, "", 48},
        Expected{RetryAfterForm::both, "48", 48}, Expected{RetryAfterForm::neither, "", nullptr},
        Expected{RetryAfterForm::date, "Mon, 24 Aug 2026 12:09:00 GMT", nullptr},
        Expected{RetryAfterForm::zero, "0", 0}, Expected{RetryAfterForm::negative, "-5", -5},
        Expected{RetryAfterForm::huge, "999999999", 999999999}}) {
    const HttpResponse response = rate_limited({47'655ms, kNow, form});
    EXPECT_EQ(header(response, "Retry-After"), wanted_header);
    EXPECT_EQ(body_of(response)["error"]["details"].value("retry_after", Json{}), wanted_body);
    EXPECT_EQ(body_of(response)["error"]["code"], "RL02");
  }
  const HttpResponse page = rate_limited({47'655ms, kNow, RetryAfterForm::html});
  EXPECT_EQ(header(page, "Content-Type"), "text/html");
  EXPECT_EQ(header(page, "Retry-After"), "");
  EXPECT_FALSE(Json::accept(page.body));
}

TEST(FakeRetryAfter, EveryWordOfTheFlagNamesAForm) {
  std::set<RetryAfterForm> forms;
  for (const char* word :
       {"header", "body", "both", "neither", "date", "zero", "negative", "huge", "html"}) {
    ASSERT_TRUE(retry_after_form(word)) << word;
    forms.insert(*retry_after_form(word));
  }
  EXPECT_EQ(forms.size(), 9U);
  EXPECT_EQ(retry_after_form("later"), std::nullopt);
}

TEST(FakeKey, AMissingOneIs401AndChargesNobody) {
  ApiOptions options;
  options.quota.per_minute = 1;
  Api api{options};
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(ask(api, {.method = "GET", .path = "/me", .key = ""}).status, 401);
  EXPECT_EQ(ask(api, {"GET", "/me"}).status, 200);
}

TEST(FakeV1Limit, RefusesOneMethodOfOneKeyWithTheOldWords) {
  ApiOptions options = generous();
  options.v1_limit = 2;
  Api api{options};
  ask(api, {"GET", "/cards/1"});
  ask(api, {"GET", "/cards/2"});
  const HttpResponse refused = ask(api, {"GET", "/cards/3"});
  EXPECT_EQ(refused.status, 401);
  EXPECT_NE(refused.body.find("API limit reached for this method"), std::string::npos);
  EXPECT_EQ(header(refused, "Retry-After"), "");
  EXPECT_EQ(ask(api, {"GET", "/cards"}).status, 200);
  EXPECT_EQ(ask(api, {.method = "GET", .path = "/cards/1", .key = "key-2"}).status, 404);
  EXPECT_EQ(ask(api, {"GET", "/cards/1"}, kNow + 1h).status, 404);
}

TEST(FakeErrors, HaveTheApisShapes) {
  Api api{generous()};
  const Json missing = body_of(ask(api, {"GET", "/cards/77"}))["error"];
  EXPECT_EQ(missing["code"], "C101");
  EXPECT_EQ(missing["reference"], "GE-C101");
  EXPECT_EQ(missing["details"]["card_id"], 77);

  const HttpResponse wrong_method = ask(api, {"PATCH", "/cards"});
  EXPECT_EQ(wrong_method.status, 405);
  EXPECT_EQ(header(wrong_method, "Allow"), "GET, POST");
  EXPECT_EQ(body_of(wrong_method)["error"]["code"], "RMNA");
  EXPECT_EQ(body_of(wrong_method)["error"]["reference"], "GE-RMNA-PATCH");

  const Json invalid = body_of(ask(api, {"POST", "/cards", R"({"title":5})"}))["error"];
  EXPECT_EQ(invalid["code"], "VE02");
  EXPECT_EQ(invalid["reference"].get<std::string>().size(), 8U);
  EXPECT_TRUE(invalid["details"]["title"].is_array());
  for (const char* body : {"{", "[]", "7", "{}", "{\"title\":\"\xff\"}"})
    EXPECT_EQ(ask(api, {"POST", "/cards", body}).status, 400) << body;

  for (const char* path :
       {"/nothing", "/cards/x", "/cards/1/nothing", "/cards/1/", "/cards/-1", "/"})
    EXPECT_EQ(ask(api, {"GET", path}).status, 404) << path;
  for (const char* account : {"", "x.evil", "ACME", "a%20b"})
    EXPECT_EQ(ask(api, {.method = "GET", .path = "/me", .account = account}).status, 404)
        << account;
}

TEST(FakeErrors, ABodyNestedTooDeepIsRefusedNotFollowed) {
  Api api{generous()};
  const std::string deep = R"({"title":"x","a":)" + std::string(500'000, '[');
  EXPECT_EQ(ask(api, {"POST", "/cards", deep}).status, 400);
  const std::string closed =
      R"({"title":"x","a":)" + std::string(1000, '[') + std::string(1000, ']') + "}";
  EXPECT_EQ(ask(api, {"POST", "/cards", closed}).status, 400);
}

TEST(FakeLedger, HoldsEveryEffectInOrderAndNothingElse) {
  Api api{generous()};
  ask(api, {"POST", "/cards", R"({"title":"One"})"});
  ask(api, {"GET", "/cards?page=1"});
  ask(api, {"POST", "/cards", "{}"});
  ask(api, {"PATCH", "/cards/1", R"({"title":"Two"})"}, kNow + 1s);
  ask(api, {"DELETE", "/cards/1"});
  ask(api, {"DELETE", "/cards/1"});
  const Json ledger = ledger_of(api);
  EXPECT_EQ(ledger["calls"], 6);
  EXPECT_EQ(ledger["limited"], 0);
  ASSERT_EQ(ledger["effects"].size(), 3U) << ledger;
  EXPECT_EQ(ledger["effects"][0], (Json{{"at", "2026-08-24T12:08:12.345Z"},
                                        {"account", "acme"},
                                        {"method", "POST"},
                                        {"path", "/cards"},
                                        {"body", {{"title", "One"}}}}));
  EXPECT_EQ(ledger["effects"][1]["at"], "2026-08-24T12:08:13.345Z");
  EXPECT_EQ(ledger["effects"][2]["path"], "/cards/1");
  EXPECT_EQ(ledger["effects"][2]["body"], nullptr);
}

TEST(FakeLedger, CountsTheLimitedAndIsEmptiedByReset) {
  ApiOptions options;
  options.quota.per_minute = 1;
  Api api{options};
  ask(api, {"POST", "/cards", R"({"title":"One"})"});
  ask(api, {"POST", "/cards", R"({"title":"Two"})"});
  EXPECT_EQ(ledger_of(api)["limited"], 1);
  EXPECT_EQ(ledger_of(api)["calls"], 2);
  EXPECT_EQ(control(api, "POST", "/_reset").status, 200);
  EXPECT_EQ(ledger_of(api), (Json{{"calls", 0}, {"limited", 0}, {"effects", Json::array()}}));
  EXPECT_EQ(ask(api, {"GET", "/me"}).status, 429);  // the quota is not the ledger's
  EXPECT_EQ(control(api, "GET", "/_reset").status, 404);
}

TEST(FakeLedger, LetsEffectsGoBeyondItsBytesAndSaysHowMany) {
  Api api{generous()};
  const std::string big = R"({"title":")" + std::string(900'000, 'x') + "\"}";
  const std::size_t fit = limits::kMaxFakeEffectBytes / big.size();
  ask(api, {"POST", "/cards", R"({"title":"One"})"});
  for (std::size_t i = 0; i < fit + 2; ++i) ask(api, {"PATCH", "/cards/1", big});
  const Json ledger = ledger_of(api);
  EXPECT_EQ(ledger["effects"].size(), 1 + fit);
  EXPECT_EQ(ledger.value("dropped", 0), 2);
  control(api, "POST", "/_reset");
  ask(api, {"PATCH", "/cards/1", big});
  EXPECT_EQ(ledger_of(api)["effects"].size(), 1U);
}

TEST(FakeFailures, A500HappensBeforeTheEffectAndIsCharged) {
  ApiOptions options = generous();
  options.fail_rate = 1;
  Api api{options};
  const HttpResponse failed = ask(api, {"POST", "/cards", R"({"title":"One"})"});
  EXPECT_EQ(failed.status, 500);
  EXPECT_EQ(failed.body, "");
  EXPECT_EQ(header(failed, "X-RateLimit-PerHour-Remaining"), "999999");
  EXPECT_TRUE(ledger_of(api)["effects"].empty());
}

TEST(FakeFailures, AResetHappensBeforeOrAfterTheEffect) {
  ApiOptions options = generous();
  options.reset_rate = 1;
  Api api{options};
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(ask(api, {"POST", "/cards", R"({"title":"One"})"}).drop_connection);
  const std::size_t took_place = ledger_of(api)["effects"].size();
  EXPECT_GT(took_place, 20U);
  EXPECT_LT(took_place, 80U);
  EXPECT_EQ(ledger_of(api)["calls"], 100);
}

TEST(FakeFailures, TheSameSeedFailsTheSameCalls) {
  const auto run = [](std::uint64_t seed) {
    ApiOptions options = generous();
    options.fail_rate = options.reset_rate = 0.3;
    options.seed = seed;
    Api api{options};
    std::string outcomes;
    for (int i = 0; i < 50; ++i) {
      const HttpResponse answered = ask(api, {"GET", "/me"});
      outcomes += answered.drop_connection ? 'r' : answered.status == 500 ? 'f' : '.';
    }
    return outcomes;
  };
  EXPECT_EQ(run(7), run(7));
  EXPECT_NE(run(7), run(8));
  EXPECT_NE(run(7).find('r'), std::string::npos);
  EXPECT_NE(run(7).find('f'), std::string::npos);
}

}  // namespace
}  // namespace coderunner::fake
