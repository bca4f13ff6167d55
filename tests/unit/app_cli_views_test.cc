#include <gtest/gtest.h>

#include "app/cli_views.h"
#include "app/patience.h"
#include "app/server_client.h"
#include "app/text_table.h"

namespace coderunner::app {
namespace {

using namespace std::chrono_literals;

const UtcTime kNow = *from_rfc3339("2026-08-24T12:08:10.000Z");

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(TextTable, AlignsColumnsByCharactersAndLeavesNoSpacesBehind) {
  TextTable table{{"ID", "NAME"}};
  EXPECT_TRUE(table.empty());
  table.add({"1", "Grüße"});
  table.add({"1000", ""});
  table.add({"ü", "x"});
  EXPECT_FALSE(table.empty());
  EXPECT_EQ(table.text(), "ID    NAME\n1     Grüße\n1000  -\nü     x\n");
}

TEST(TextTable, KeepsAStrangersTextOnItsLine) {
  TextTable table{{"A", "B"}};
  table.add({"x\n2  forged", "\x1b[2J"});
  EXPECT_EQ(table.text(), "A             B\nx\\n2  forged  \\u001b[2J\n");
}

TEST(HumanDuration, ReadsWell) {
  EXPECT_EQ(human_duration(0ms), "0ms");
  EXPECT_EQ(human_duration(-5ms), "0ms");
  EXPECT_EQ(human_duration(999ms), "999ms");
  EXPECT_EQ(human_duration(3290ms), "3.2s");
  EXPECT_EQ(human_duration(125s), "2m05s");
  EXPECT_EQ(human_duration(187min), "3h07m");
  EXPECT_EQ(human_duration(292h), "12d04h");
}

TEST(StatusView, BeginsWithTheDrainersWord) {
  const std::string text = status_view(
      R"({"depth":12,"oldest_queued_age_ms":3200,"oldest_eligible_age_ms":1000,
          "oldest_parked_age_ms":3200,"in_flight":2,"concurrency":4,
          "drainer":{"state":"gated","last_tick":"2026-08-24T12:08:09.000Z"},
          "gated_keys":[{"key":"abcd","until":"2026-08-24T12:09:00.000Z","queued":11}],
          "accounts":[{"account":"acme","queued":12,"in_flight":2,"oldest_queued_age_ms":3200}],
          "executor":{"children":2,"max_children":8,"max_children_reached":0}})");
  EXPECT_EQ(text,
            "gated   depth 12   in flight 2 of 4   oldest queued 3.2s (eligible 1.0s, parked "
            "3.2s)\n"
            "last tick 2026-08-24T12:08:09.000Z   executor children 2 of 8, all taken 0 times\n"
            "\n"
            "GATED KEY  UNTIL                     QUEUED\n"
            "abcd       2026-08-24T12:09:00.000Z  11\n"
            "\n"
            "ACCOUNT  QUEUED  IN FLIGHT  OLDEST\n"
            "acme     12      2          3.2s\n");
}

TEST(StatusView, NeedsNothingToBeThere) {
  for (const std::string body : {"", "{}", "[]", "null", "7", "not json", R"({"drainer":7})"})
    EXPECT_EQ(status_view(body).substr(0, 17), "unknown   depth 0") << body;
}

const std::string kFailed =
    R"({"execution_id":7,"job_id":9,"account":"acme","identifier":null,"state":"failed",
        "status":"error","error_code":301,"error_message":"card 4\nmissing",
        "queued_at":"2026-08-24T12:08:00.000Z","started_at":"2026-08-24T12:08:00.250Z",
        "finished_at":"2026-08-24T12:08:01.450Z","queued_reason":null,"queued_until":null,
        "apikey_hash":"abcd"})";
const std::string kQueued =
    R"({"execution_id":8,"job_id":10,"account":"acme","identifier":"night","state":"queued",
        "status":"queued","error_code":null,"error_message":null,
        "queued_at":"2026-08-24T12:08:00.000Z","started_at":null,"finished_at":null,
        "queued_reason":"key_gated","queued_until":"2026-08-24T12:09:00.000Z",
        "apikey_hash":"abcd"})";

TEST(ListView, ShowsStatesAsWordsWithTheirReasonsAndTimes) {
  const std::string text =
      list_view(R"({"executions":[)" + kQueued + "," + kFailed + R"(],"next":7})", kNow);
  EXPECT_EQ(text,
            "ID  ACCOUNT  STATE   QUEUED AT                 WAITED  RAN   IDENTIFIER  BECAUSE\n"
            "8   acme     queued  2026-08-24T12:08:00.000Z  10.0s   -     night       key_gated "
            "until 2026-08-24T12:09:00.000Z\n"
            "7   acme     failed  2026-08-24T12:08:00.000Z  250ms   1.2s  -           card "
            "4\\nmissing (code 301)\n"
            "older ones: --before 7\n");
  EXPECT_EQ(list_view(R"({"executions":[],"next":null})", kNow), "no executions\n");
  EXPECT_EQ(list_view("not json", kNow), "no executions\n");
}

// Its finished_at is the reaper's: two hours of a dead row are no run of two hours.
TEST(ReapedRow, HasNoDurationAnywhere) {
  const std::string row =
      R"({"execution_id":7,"account":"acme","state":"killed","status":"error","error_code":303,
          "error_message":"reaped: the executor process died; it had sent no change",
          "queued_at":"2026-08-24T10:08:00.000Z","started_at":"2026-08-24T10:08:01.000Z",
          "finished_at":"2026-08-24T12:08:01.000Z"})";
  const std::string list = list_view(R"({"executions":[)" + row + R"(],"next":null})", kNow);
  const std::string show = show_view(row, kNow);
  EXPECT_FALSE(has(list, "2h00m")) << list;
  EXPECT_FALSE(has(show, "2h00m")) << show;
  EXPECT_TRUE(has(show, "reaped, how long it ran is not known")) << show;
  EXPECT_TRUE(has(show_json(row), R"("event":"finished","after_ms":null)")) << show_json(row);
  EXPECT_EQ(progress_of(row)->line,
            "execution 7 killed: reaped: the executor process died; it had sent no change (code "
            "303)");
}

TEST(ShowView, TellsTheTimeline) {
  const std::string failed = show_view(kFailed, kNow);
  EXPECT_TRUE(failed.starts_with("execution 7 failed\n"));
  EXPECT_TRUE(has(failed, "  because     card 4\\nmissing (code 301)\n")) << failed;
  EXPECT_TRUE(has(failed, "  queued    2026-08-24T12:08:00.000Z\n")) << failed;
  EXPECT_TRUE(has(failed, "  started   2026-08-24T12:08:00.250Z   waited 250ms\n")) << failed;
  EXPECT_TRUE(has(failed, "  finished  2026-08-24T12:08:01.450Z   ran 1.2s\n")) << failed;
  const std::string queued = show_view(kQueued, kNow);
  EXPECT_TRUE(has(queued, "  queued    2026-08-24T12:08:00.000Z   waiting for 10.0s\n")) << queued;
  EXPECT_FALSE(has(queued, "started"));
}

// R55
TEST(ShowView, SaysOfAGatedOneWhatClosedItsKeysGateAndWhen) {
  const std::string row =
      R"({"execution_id":7,"state":"queued","status":"queued","queued_reason":"key_gated",
          "queued_until":"2026-08-24T13:05:00.000Z","queued_at":"2026-08-24T12:08:00.000Z",
          "apikey_hash":"abcd"})";
  const auto gates = [](const char* key, int status) {
    return R"({"gates":[{"key":")" + std::string{key} + R"(","status":)" + std::to_string(status) +
           R"(,"seen_at":"2026-08-24T12:05:00.000Z"}]})";
  };
  EXPECT_TRUE(waits_for_gate(row));
  EXPECT_FALSE(waits_for_gate(kFailed));
  const std::string seen = show_view(row, kNow, gates("abcd", 429));
  EXPECT_TRUE(has(seen, "  because     key_gated until 2026-08-24T13:05:00.000Z\n")) << seen;
  EXPECT_TRUE(has(seen, "  gate        closed by a 429, seen at 2026-08-24T12:05:00.000Z\n"))
      << seen;
  EXPECT_TRUE(has(show_view(row, kNow, gates("abcd", 200)), "closed by a minute used up"));
  EXPECT_TRUE(has(show_view(row, kNow, gates("abcd", 0)), "closed by an operator"));
  EXPECT_FALSE(has(show_view(row, kNow, gates("other", 429)), "closed by"));
  EXPECT_FALSE(has(show_view(row, kNow), "closed by"));
}

TEST(ShowJson, IsTheServersWithATimeline) {
  EXPECT_TRUE(show_json(kFailed).ends_with(
      R"("timeline":[{"at":"2026-08-24T12:08:00.000Z","event":"queued","after_ms":0},)"
      R"({"at":"2026-08-24T12:08:00.250Z","event":"started","after_ms":250},)"
      R"({"at":"2026-08-24T12:08:01.450Z","event":"finished","after_ms":1200}]})"))
      << show_json(kFailed);
  EXPECT_TRUE(show_json(kFailed).starts_with(R"({"execution_id":7,"job_id":9,)"));
  EXPECT_EQ(show_json("not json"), "not json");
}

TEST(LogPageTest, ShowsLinesAndCallsAndWhatToAskNext) {
  const auto page = log_page(
      R"({"logs":[{"at":"2026-08-24T12:08:01.000Z","level":"info","message":"a\nb\t7"},
                  {"at":"2026-08-24T12:08:02.000Z","level":"warn","message":"GET /cards/4: 429",
                   "call":{"method":"GET","path":"/cards/4","status":429,"ms":31,"attempt":2,
                           "remaining":0}},
                  {"at":"2026-08-24T12:08:03.000Z","level":"info","message":"sending POST /cards",
                   "call":{"method":"POST","path":"/cards","status":null,"ms":0,"attempt":1,
                           "remaining":null}}],"next":31})");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->lines, 3);
  EXPECT_EQ(page->next, 31);
  EXPECT_EQ(page->text,
            "2026-08-24T12:08:01.000Z info  a\\nb\t7\n"
            "2026-08-24T12:08:02.000Z warn  GET /cards/4: 429 (31ms, attempt 2, 0 left this "
            "minute)\n"
            "2026-08-24T12:08:03.000Z info  sending POST /cards\n");
  EXPECT_FALSE(log_page("{}"));
  EXPECT_FALSE(log_page("not json"));
}

TEST(ProgressTest, SaysWhetherAnExecutionHasEndedAndHow) {
  const auto failed = progress_of(kFailed);
  ASSERT_TRUE(failed);
  EXPECT_TRUE(failed->finished);
  EXPECT_FALSE(failed->succeeded);
  EXPECT_EQ(failed->line,
            "execution 7 failed after 1.2s (waited 250ms): card 4\\nmissing (code 301)");
  const auto queued = progress_of(kQueued);
  ASSERT_TRUE(queued);
  EXPECT_FALSE(queued->finished);
  EXPECT_FALSE(progress_of(R"({"status":"success"})"));
  EXPECT_FALSE(progress_of("not json"));
  EXPECT_EQ(admitted_id(R"({"execution_id":5,"job_id":6,"status":"queued"})"), 5);
  EXPECT_FALSE(admitted_id("[]"));
}

TEST(RefusalText, SaysWhatTheServerSaid) {
  EXPECT_EQ(refusal_text(422, R"({"error":{"code":201,"message":"line 3: x","details":
                                  {"line":3,"execution_id":5}}})"),
            "line 3: x (code 201); kept as execution 5");
  EXPECT_EQ(refusal_text(404, R"({"error":{"code":404,"message":"no\nsuch","details":{}}})"),
            "no\\nsuch");
  for (const std::string body : {"", "<html>", "[]", R"({"error":7})", R"({"error":{}})"})
    EXPECT_TRUE(has(refusal_text(502, body), "answered 502")) << body;
}

TEST(PatienceTest, BearsWithAServerThatIsAwayForAMinuteAndWithNothingElse) {
  Patience patience;
  const Error away = fail(Failure::unavailable, "refused");
  int rounds = 0;
  while (rounds < 10'000 && patience.forgives(away)) ++rounds;
  EXPECT_EQ(rounds * limits::kFollowInterval, limits::kFollowPatience);
  EXPECT_FALSE(Patience{}.forgives(fail(Failure::invalid_input, "no such execution")));
}

TEST(FindServer, TakesTheFirstThatIsNamed) {
  Settings settings;
  settings.http.listen = "127.0.0.1:8099";
  const auto url = [&](const std::string& option, const std::string& variable) {
    const auto place = find_server({.url = option, .token_file = {}}, {variable, ""}, settings);
    return place ? place->url : "error: " + place.error().message;
  };
  EXPECT_EQ(url("", ""), "http://127.0.0.1:8099");
  settings.client.url = "https://queue.example";
  EXPECT_EQ(url("", ""), "https://queue.example");
  EXPECT_EQ(url("", "http://variable:1/"), "http://variable:1");
  EXPECT_EQ(url("unix:q.sock", "http://variable:1/"), "unix:q.sock");
  EXPECT_TRUE(has(url("queue.example", ""), "is not a server"));
  settings = {};
  settings.http.listen = "unix:var/http.sock";
  EXPECT_EQ(url("", ""), "unix:var/http.sock");
  settings.http.listen = "127.0.0.1:0";
  EXPECT_TRUE(has(url("", ""), "--url"));
}

}  // namespace
}  // namespace coderunner::app
