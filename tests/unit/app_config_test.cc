#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/config.h"
#include "app/setting_table.h"

namespace coderunner::app {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;

std::string mistake(std::string_view toml) {
  const auto settings = parse_settings(toml, "coderunner.toml");
  return settings ? "" : settings.error().message;
}

TEST(Config, WithoutAnythingGivesTheDefaultsOfTheContract) {
  const auto settings = parse_settings("", "coderunner.toml");
  ASSERT_TRUE(settings);
  EXPECT_EQ(*settings, Settings{});
  EXPECT_EQ(settings->queue.concurrency, 4);
  EXPECT_EQ(settings->queue.per_account, 2);
  EXPECT_EQ(settings->reaper.purge_after, 24h * 90);
  EXPECT_EQ(settings->api.base_url, "https://{account}.kanbanize.com/api/v2");
}

TEST(Config, ReadsEveryKindOfSetting) {
  const auto settings = parse_settings(R"(
[queue]
concurrency = 8
order = "fifo"
wakeup = false
poll_interval = "500ms"
[executor]
memory = "128MiB"
[http]
max_body = 4096
allowed_hosts = ["queue.local", "localhost"]
[store]
url = "sqlite:data/queue.db"
)",
                                       "coderunner.toml");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->queue.concurrency, 8);
  EXPECT_EQ(settings->queue.order, Order::fifo);
  EXPECT_FALSE(settings->queue.wakeup);
  EXPECT_EQ(settings->queue.poll_interval, 500ms);
  EXPECT_EQ(settings->executor.memory, 128U * 1024 * 1024);
  EXPECT_EQ(settings->http.max_body, 4096U);
  EXPECT_EQ(settings->http.allowed_hosts, (std::vector<std::string>{"queue.local", "localhost"}));
  EXPECT_EQ(settings->store.url, "sqlite:data/queue.db");
}

TEST(Config, NamesAnUnknownKeyItsPlaceAndTheNearestKnownOne) {
  EXPECT_EQ(mistake("[queue]\nconcurency = 4\n"),
            "coderunner.toml:2:14: unknown setting queue.concurency: did you mean "
            "queue.concurrency?");
  EXPECT_EQ(mistake("[executr]\nwall = \"5s\"\n"),
            "coderunner.toml:2:8: unknown setting executr.wall: did you mean executor.wall?");
  EXPECT_EQ(mistake("[queue]\nxylophone = 1\n"),
            "coderunner.toml:2:13: unknown setting queue.xylophone");
  EXPECT_EQ(mistake("[queue.deep]\nconcurrency = 1\n").substr(0, 57),
            "coderunner.toml:2:15: unknown setting queue.deep.concurre");
  EXPECT_NE(mistake("verbose = true\n"), "");
  EXPECT_NE(mistake("[nothing]\n"), "");
}

TEST(Config, NamesEveryMistakeAtOnceInTheOrderOfTheFile) {
  EXPECT_EQ(mistake("[queue]\nconcurrency = 0\nfoo = 1\n[http]\nlisten = 8080\n"),
            "coderunner.toml:2:15: queue.concurrency: 0 is not a whole number between 1 and 256\n"
            "coderunner.toml:3:7: unknown setting queue.foo\n"
            "coderunner.toml:5:10: http.listen: 8080 is not a text");
}

TEST(Config, RefusesAValueOfAnotherType) {
  EXPECT_NE(mistake("[queue]\nconcurrency = \"4\"\n"), "");
  EXPECT_NE(mistake("[queue]\nconcurrency = 4.0\n"), "");
  EXPECT_NE(mistake("[queue]\nwakeup = \"true\"\n"), "");
  EXPECT_NE(mistake("[queue]\npoll_interval = 1\n"), "");
  EXPECT_NE(mistake("[queue]\npoll_interval = \"1\"\n"), "");
  EXPECT_NE(mistake("[queue]\norder = \"lifo\"\n"), "");
  EXPECT_NE(mistake("[executor]\nmemory = \"64MB\"\n"), "");
  EXPECT_NE(mistake("[executor]\nmemory = -1\n"), "");
  EXPECT_NE(mistake("[http]\nallowed_hosts = \"localhost\"\n"), "");
  EXPECT_NE(mistake("[http]\nallowed_hosts = [1]\n"), "");
  EXPECT_NE(mistake("[http]\nlisten = 2026-08-24\n"), "");
  EXPECT_EQ(mistake("queue = 4\n"),
            "coderunner.toml:1:9: queue is a section: write [queue] and its keys below it");
}

TEST(Config, SaysWhereAFileIsNotToml) {
  EXPECT_EQ(mistake("[queue\n").substr(0, 19), "coderunner.toml:1:7");
  EXPECT_EQ(mistake("[queue]\nwakeup = true\nwakeup = false\n").substr(0, 17), "coderunner.toml:3");
}

TEST(Config, KeepsTextBeyondAsciiAsItIs) {
  const auto settings = parse_settings(
      "\xEF\xBB\xBF# Größe ~ é\n[store]\nurl = \"sqlite:dätä~7E/\\u00e9.db\" # "
      "ü\n[http]\nallowed_hosts = ['é~']\n",
      "coderunner.toml");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->store.url, "sqlite:dätä~7E/é.db");
  EXPECT_EQ(settings->http.allowed_hosts, std::vector<std::string>{"é~"});
}

TEST(Config, RefusesWhatTheParserWouldBreakOn) {
  for (const std::string_view text :
       {"[\0["sv, "[\v\0n"sv, "[[["sv, "n\xc4\xa4["sv, "n=2n'fo|\xc3\x9e['"sv, "a = \"\xff\"\n"sv})
    EXPECT_NE(mistake(text), "") << text;
}

TEST(Config, NamesThePlaceOfABrokenRule) {
  EXPECT_EQ(mistake("[http]\nlisten = \"0.0.0.0:8080\"\n").substr(0, 35),
            "coderunner.toml:2:10: http.listen: ");
  // The default is what must change: it has no place.
  EXPECT_EQ(mistake("[executor]\nwall = \"20m\"\n").substr(0, 22), "reaper.running_after: ");
}

TEST(Config, TakesTheEnvironmentOverTheFileAndSetOverBoth) {
  const auto settings = load_settings({.file = {},
                                       .environment = {{"CODERUNNER_QUEUE_CONCURRENCY", "6"},
                                                       {"CODERUNNER_QUEUE_WAKEUP", "false"},
                                                       {"CODERUNNER_EXECUTOR_MEMORY", "32MiB"},
                                                       {"CODERUNNER_HTTP_ALLOWED_HOSTS", "a,b"},
                                                       {"CODERUNNER_HTTP_LISTEN", "unix:q.sock"}},
                                       .overrides = {{"queue.concurrency", "7"}}});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->queue.concurrency, 7);
  EXPECT_FALSE(settings->queue.wakeup);
  EXPECT_EQ(settings->executor.memory, 32U * 1024 * 1024);
  EXPECT_EQ(settings->http.allowed_hosts, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(settings->http.listen, "unix:q.sock");
}

TEST(Config, NamesABadVariableAndABadOverride) {
  const auto environment = [](const std::string& name, const std::string& value) {
    const auto settings =
        load_settings({.file = {}, .environment = {{name, value}}, .overrides = {}});
    return settings ? "" : settings.error().message;
  };
  EXPECT_EQ(environment("CODERUNNER_QUEUE_CONCURRENCY", "many"),
            "CODERUNNER_QUEUE_CONCURRENCY: \"many\" is not a whole number between 1 and 256");
  EXPECT_EQ(environment("CODERUNNER_QUEUE_CONCURENCY", "4"),
            "CODERUNNER_QUEUE_CONCURENCY: no such setting: did you mean "
            "CODERUNNER_QUEUE_CONCURRENCY?");
  EXPECT_EQ(environment("CODERUNNER_BIN", "elsewhere"), "");
  EXPECT_EQ(environment("CODERUNNER_URL", "http://127.0.0.1:1"), "");

  const auto settings = load_settings(
      {.file = {}, .environment = {}, .overrides = {{"queue.order", "x"}, {"a.b", ""}}});
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().message,
            "--set queue.order: \"x\" is not one of fair, fifo\n--set a.b: unknown setting a.b");
}

TEST(Config, EverySettingHasAVariableOfItsOwn) {
  std::set<std::string> names;
  for (const SettingRow& row : setting_table()) names.insert(environment_name(row.key));
  EXPECT_EQ(names.size(), setting_table().size());
  EXPECT_TRUE(names.contains("CODERUNNER_STORE_URL"));
  EXPECT_TRUE(names.contains("CODERUNNER_QUEUE_MAX_QUEUED_PER_ACCOUNT"));
}

TEST(Config, PrintedComesBackTheSame) {
  EXPECT_EQ(*parse_settings(to_toml(Settings{}), "printed"), Settings{});

  Settings settings;
  settings.store.url = "sqlite:a \"b\"\\c\n\t\x7f/ü.db";
  settings.queue.order = Order::fifo;
  settings.queue.wakeup = false;
  settings.executor.wall = 1'234ms;
  settings.executor.memory = 1024 * 1024 + 1;
  settings.http.allowed_hosts = {"a", "b,c", ""};
  settings.log.format = LogFormat::json;
  settings.log.level = Level::error;
  settings.gate.margin = 0ms;
  const auto again = parse_settings(to_toml(settings), "printed");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, settings);
}

TEST(Config, DropsTheSlashAtTheEndOfTheBaseAddress) {
  const auto settings = parse_settings("[api]\nbase_url = \"http://h/{account}/api/v2//\"\n", "f");
  EXPECT_EQ(settings->api.base_url, "http://h/{account}/api/v2");
}

// Some value of the row's kind that is not the default.
std::string another_value(const SettingRow& row) {
  const std::string now = print_value(row, Settings{});
  if (const auto* kind = std::get_if<IntSetting>(&row.kind)) return std::to_string(kind->max);
  if (const auto* kind = std::get_if<DurationSetting>(&row.kind)) return format_duration(kind->max);
  if (const auto* kind = std::get_if<SizeSetting>(&row.kind)) return std::to_string(kind->max);
  if (std::holds_alternative<BoolSetting>(row.kind)) return now == "true" ? "false" : "true";
  if (const auto* kind = std::get_if<WordSetting>(&row.kind))
    return now == fmt::format("\"{}\"", kind->words[0]) ? std::string{kind->words[1]}
                                                        : std::string{kind->words[0]};
  return "another";
}

TEST(SettingTable, GivesEveryKeyAPlaceOfItsOwn) {
  for (const SettingRow& row : setting_table()) {
    Settings settings;
    ASSERT_TRUE(set_from_text(row, another_value(row), settings)) << row.key;
    for (const SettingRow& other : setting_table())
      EXPECT_EQ(print_value(other, settings) != print_value(other, Settings{}), &other == &row)
          << row.key << " and " << other.key;
  }
}

TEST(SettingTable, KeepsEveryNumberWithinItsRange) {
  const auto refused = [](const std::string& key, const std::string& value) {
    return !load_settings({.file = {}, .environment = {}, .overrides = {{key, value}}});
  };
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"queue.concurrency", "0"},
           {"queue.concurrency", "257"},
           {"queue.per_account", "0"},
           {"queue.max_queued", "0"},
           {"queue.poll_interval", "2001ms"},
           {"queue.poll_interval", "0s"},
           {"executor.max_children", "0"},
           {"executor.wall", "0s"},
           {"executor.memory", "1KiB"},
           {"api.max_attempts", "0"},
           {"gate.max", "0s"},
           {"http.max_body", "1"},
           {"queue.concurrency", "99999999999999999999"}})
    EXPECT_TRUE(refused(key, value)) << key << " = " << value;
  EXPECT_FALSE(refused("queue.concurrency", "256"));
  EXPECT_FALSE(refused("queue.poll_interval", "2s"));
}

}  // namespace
}  // namespace coderunner::app
