#include <gtest/gtest.h>

#include "app/command_line.h"

namespace coderunner::app {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

const std::string kKey(64, 'a');

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

TEST(OperatorsCommandLine, CancelsOneExecutionOrAllThatAreQueuedOfAnAccount) {
  const auto one = parsed<CancelCommand>({"cancel", "12", "--json"});
  EXPECT_EQ(one.id, ExecutionId{12});
  EXPECT_EQ(one.account, std::nullopt);
  EXPECT_TRUE(one.server.json);
  const auto many =
      parsed<CancelCommand>({"cancel", "--account", "acme", "--state", "queued", "--dry-run"});
  EXPECT_EQ(many.id, std::nullopt);
  EXPECT_EQ(many.account, "acme");
  EXPECT_TRUE(many.dry_run);
  EXPECT_FALSE(parsed<CancelCommand>({"cancel", "--account", "acme", "--state", "queued"}).dry_run);
}

TEST(OperatorsCommandLine, PausesAndResumesEverybodyOrOneAccount) {
  EXPECT_EQ(parsed<PauseCommand>({"pause"}).account, std::nullopt);
  EXPECT_EQ(parsed<PauseCommand>({"pause", "--account", "acme"}).account, "acme");
  EXPECT_EQ(parsed<ResumeCommand>({"resume"}).account, std::nullopt);
  EXPECT_EQ(parsed<ResumeCommand>({"resume", "--account", "acme"}).account, "acme");
}

TEST(OperatorsCommandLine, ShowsAnAccountAndSetsItsCap) {
  EXPECT_EQ(parsed<AccountShowCommand>({"account", "show", "acme"}).account, "acme");
  const auto set = parsed<AccountSetCommand>({"account", "set", "acme", "--per-account", "3"});
  EXPECT_EQ(set.account, "acme");
  EXPECT_EQ(set.per_account, 3);
  const Words back{"account", "set", "acme", "--per-account", "default"};
  EXPECT_EQ(parsed<AccountSetCommand>(back).per_account, std::nullopt);
}

TEST(OperatorsCommandLine, ListsSetsAndClearsGates) {
  EXPECT_TRUE(parsed<GateListCommand>({"gate", "list", "--json"}).server.json);
  const auto set = parsed<GateSetCommand>({"gate", "set", kKey, "--for", "30m"});
  EXPECT_EQ(set.key, ApiKeyHash{kKey});
  EXPECT_EQ(set.length, 30min);
  EXPECT_EQ(parsed<GateClearCommand>({"gate", "clear", kKey}).key, ApiKeyHash{kKey});
}

TEST(OperatorsCommandLine, AnswersWordsThatDoNotFitTogetherWithTwoAndSaysWhy) {
  for (const Words& words :
       std::vector<Words>{{"cancel"},
                          {"cancel", "0"},
                          {"cancel", "x"},
                          {"cancel", "--account", "acme"},
                          {"cancel", "--state", "queued"},
                          {"cancel", "--account", "acme", "--state", "running"},
                          {"cancel", "7", "--account", "acme", "--state", "queued"},
                          {"cancel", "7", "--dry-run"},
                          {"pause", "acme"},
                          {"account"},
                          {"account", "set", "acme"},
                          {"account", "set", "acme", "--per-account", "0"},
                          {"account", "set", "acme", "--per-account", "257"},
                          {"account", "set", "acme", "--per-account", "2x"},
                          {"account", "show"},
                          {"gate"},
                          {"gate", "set", kKey},
                          {"gate", "set", kKey, "--for", "0s"},
                          {"gate", "set", kKey, "--for", "soon"},
                          {"gate", "set", std::string(64, 'A'), "--for", "1m"},
                          {"gate", "clear", kKey + "0"},
                          {"gate", "clear"}}) {
    const auto line = parse_command_line(words);
    const auto* nothing = std::get_if<NothingToRun>(&line);
    ASSERT_NE(nothing, nullptr) << testing::PrintToString(words);
    EXPECT_EQ(nothing->exit_status, 2) << testing::PrintToString(words);
    EXPECT_FALSE(nothing->errors.empty()) << testing::PrintToString(words);
  }
}

TEST(OperatorsCommandLine, TakesNothingButAPositiveNumberForAnExecution) {
  for (const char* word : {"0", "-1", "abc", "1.5", "1e3", "99999999999999999999", ""})
    for (const char* verb : {"cancel", "show", "logs"}) {
      const auto line = parse_command_line({verb, "--", word});
      const auto* refused = std::get_if<NothingToRun>(&line);
      ASSERT_NE(refused, nullptr) << verb << " " << word;
      EXPECT_EQ(refused->exit_status, 2);
      EXPECT_NE(refused->errors.find("write it like 42"), std::string::npos) << refused->errors;
    }
}

TEST(OperatorsCommandLine, HasHelpOnEveryLevel) {
  for (const Words& words : std::vector<Words>{{"cancel"},
                                               {"pause"},
                                               {"resume"},
                                               {"account"},
                                               {"account", "set"},
                                               {"account", "show"},
                                               {"gate"},
                                               {"gate", "list"},
                                               {"gate", "set"},
                                               {"gate", "clear"}}) {
    Words asked = words;
    asked.emplace_back("--help");
    const auto line = parse_command_line(asked);
    const auto* help = std::get_if<NothingToRun>(&line);
    ASSERT_NE(help, nullptr) << testing::PrintToString(words);
    EXPECT_EQ(help->exit_status, 0) << testing::PrintToString(words);
    EXPECT_NE(help->output.find(words.back()), std::string::npos) << help->output;
  }
}

}  // namespace
}  // namespace coderunner::app
