#include <gtest/gtest.h>

#include "app/command_line.h"

namespace coderunner::app {
namespace {

using Words = std::vector<std::string>;

template <class T>
T parsed(const Words& words) {
  const auto line = parse_command_line(words);
  if (const auto* nothing = std::get_if<NothingToRun>(&line)) {
    ADD_FAILURE() << nothing->errors << nothing->output;
    return {};
  }
  const auto* command = std::get_if<T>(&std::get<CommandLine>(line).command);
  EXPECT_NE(command, nullptr) << "another command was picked";
  return command == nullptr ? T{} : *command;
}

NothingToRun refused(const Words& words) {
  const auto line = parse_command_line(words);
  if (const auto* nothing = std::get_if<NothingToRun>(&line)) return *nothing;
  ADD_FAILURE() << "was taken";
  return {};
}

TEST(CommandLineTest, TakesServeWithAllRolesUnlessSomeAreNamed) {
  EXPECT_EQ(parsed<ServeCommand>({"serve"}), ServeCommand{});
  const auto command = parsed<ServeCommand>({"serve", "--roles", "api,drainer", "--wait-lock"});
  EXPECT_EQ(command.roles, (std::set{Role::api, Role::drainer}));
  EXPECT_TRUE(command.wait_lock);
  EXPECT_EQ(refused({"serve", "--roles", "api,cook"}).exit_status, 2);
  EXPECT_EQ(refused({"serve", "--roles", ""}).exit_status, 2);
}

TEST(CommandLineTest, TakesConfigurationAndOverridesOnEveryCommandThatReadsThem) {
  for (const Words& words : std::vector<Words>{{"serve"},
                                               {"migrate"},
                                               {"doctor"},
                                               {"status"},
                                               {"list"},
                                               {"show", "7"},
                                               {"logs", "7"}}) {
    Words longer = words;
    longer.insert(longer.end(), {"--config", "q.toml", "--set", "queue.concurrency=8", "--set",
                                 "store.url=sqlite:a=b.db"});
    const auto line = parse_command_line(longer);
    ASSERT_TRUE(std::holds_alternative<CommandLine>(line)) << words[0];
    const ConfigOptions& config = std::get<CommandLine>(line).config;
    EXPECT_EQ(config.file, "q.toml");
    EXPECT_EQ(config.settings, (std::vector<std::pair<std::string, std::string>>{
                                   {"queue.concurrency", "8"}, {"store.url", "sqlite:a=b.db"}}));
  }
  EXPECT_EQ(refused({"serve", "--set", "queue.concurrency"}).exit_status, 2);
}

TEST(CommandLineTest, TakesSubmitWithItsFiles) {
  const auto command = parsed<SubmitCommand>(
      {"submit", "--account", "acme", "--key-file", "k", "--identifier", "night run", "--payload",
       "p.json", "--wait", "--json", "--url", "http://127.0.0.1:1", "s.lua"});
  EXPECT_EQ(command.account, "acme");
  EXPECT_EQ(command.key_file, "k");
  EXPECT_EQ(command.script, "s.lua");
  EXPECT_EQ(command.identifier, "night run");
  EXPECT_EQ(command.payload_file, "p.json");
  EXPECT_TRUE(command.wait);
  EXPECT_TRUE(command.server.json);
  EXPECT_EQ(command.server.url, "http://127.0.0.1:1");
  EXPECT_FALSE(command.debug);
  EXPECT_EQ(refused({"submit", "--account", "acme", "s.lua"}).exit_status, 2);
  EXPECT_EQ(refused({"submit", "--account", "acme", "--key-file", "k"}).exit_status, 2);
}

TEST(CommandLineTest, TakesTheReadingCommands) {
  EXPECT_TRUE(parsed<StatusCommand>({"status", "--json"}).server.json);
  const auto list = parsed<ListCommand>({"list", "--account", "acme", "--state", "never_dispatched",
                                         "--limit", "5", "--before", "9"});
  EXPECT_EQ(list.account, "acme");
  EXPECT_EQ(list.state, State::never_dispatched);
  EXPECT_EQ(list.limit, 5);
  EXPECT_EQ(list.before, ExecutionId{9});
  EXPECT_EQ(parsed<ListCommand>({"list"}).limit, limits::kDefaultListed);
  EXPECT_EQ(parsed<ShowCommand>({"show", "12"}).id, ExecutionId{12});
  const auto logs = parsed<LogsCommand>({"logs", "12", "--follow"});
  EXPECT_EQ(logs.id, ExecutionId{12});
  EXPECT_TRUE(logs.follow);
  EXPECT_EQ(parsed<CheckCommand>({"check", "s.lua"}).script, "s.lua");
  EXPECT_TRUE(parsed<MigrateCommand>({"migrate", "--dry-run"}).dry_run);
}

TEST(CommandLineTest, AnswersBadUsageWithTwoAndSaysWhy) {
  for (const Words& words : std::vector<Words>{{},
                                               {"frobnicate"},
                                               {"--frobnicate"},
                                               {"status", "extra"},
                                               {"list", "--limit", "0"},
                                               {"list", "--limit", "501"},
                                               {"list", "--limit", "x"},
                                               {"list", "--state", "pending"},
                                               {"list", "--before", "0"},
                                               {"show"},
                                               {"show", "0"},
                                               {"show", "-1"},
                                               {"show", "x"},
                                               {"logs", "1", "2"},
                                               {"check"},
                                               {"serve", "--config"}}) {
    const NothingToRun nothing = refused(words);
    EXPECT_EQ(nothing.exit_status, 2);
    EXPECT_FALSE(nothing.errors.empty());
    EXPECT_TRUE(nothing.output.empty()) << nothing.output;
  }
}

TEST(CommandLineTest, AnswersHelpOnEveryLevelAndTheVersionWithZero) {
  EXPECT_NE(refused({"--help"}).output.find("submit"), std::string::npos);
  for (const std::string command :
       {"serve", "migrate", "submit", "status", "list", "show", "logs", "check"}) {
    const NothingToRun help = refused({command, "--help"});
    EXPECT_EQ(help.exit_status, 0) << command;
    EXPECT_NE(help.output.find("--"), std::string::npos) << command;
    EXPECT_NE(help.output.find(command), std::string::npos) << command;
  }
  const NothingToRun version = refused({"--version"});
  EXPECT_EQ(version.exit_status, 0);
  EXPECT_EQ(version.output.substr(0, 11), "coderunner ");
}

}  // namespace
}  // namespace coderunner::app
