#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/doctor.h"

namespace coderunner::app {
namespace {

const Finding& named(const std::vector<Finding>& findings, std::string_view name) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [name](const Finding& one) { return one.name == name; });
  EXPECT_NE(found, findings.end()) << name;
  return *found;
}

executor::Trial trial(std::vector<executor::SandboxFeature> features, Result<Done> script) {
  return {{std::move(features)}, std::move(script)};
}

TEST(TheDoctor, IsContentWithAConfinedScriptThatRan) {
  const auto findings = judge_trial(trial({{"network", true, "no route"}}, Done{}));
  EXPECT_EQ(named(findings, "sandbox.network").grade, Grade::ok);
  EXPECT_EQ(named(findings, "executor").grade, Grade::ok);
  EXPECT_TRUE(is_healthy(findings));
}

TEST(TheDoctor, WarnsOfANamespaceTheMachineRefusesAndSaysWhatToDo) {
  const auto findings = judge_trial(trial({{"network", false, "Operation not permitted"}}, Done{}));
  EXPECT_EQ(named(findings, "sandbox.network").grade, Grade::warn);
  EXPECT_EQ(named(findings, "sandbox.network").what, "Operation not permitted");
  EXPECT_NE(named(findings, "sandbox.network").advice, "");
  EXPECT_TRUE(is_healthy(findings));
}

TEST(TheDoctor, FailsWhereWhatIsRequiredDoesNotHold) {
  const auto findings = judge_trial(trial({{"system calls", false, "open went through"}}, Done{}));
  EXPECT_EQ(named(findings, "sandbox.system calls").grade, Grade::fail);
  EXPECT_FALSE(is_healthy(findings));
}

TEST(TheDoctor, FailsWhereNoScriptRuns) {
  EXPECT_FALSE(is_healthy(judge_trial(trial({}, fail(Failure::unavailable, "it died")))));
  EXPECT_FALSE(is_healthy(judge_trial(fail(Failure::unavailable, "no process"))));
}

TEST(TheDoctor, TellsASecretThatIsNotThereFromOneThatOthersMayRead) {
  EXPECT_EQ(judge_secret("secrets.salt_file", "no/such/file").grade, Grade::warn);
  const Finding readable = judge_secret("secrets.key_file", "/proc/self/status");  // mode 0444
  EXPECT_EQ(readable.grade, Grade::warn);
  EXPECT_NE(readable.advice.find("chmod 600"), std::string::npos);
}

TEST(TheDoctor, PrintsEveryFindingAndTheSettingsInEffect) {
  const std::vector<Finding> findings{{"secrets", Grade::fail, "bad\x1b[2J", "mend"}};
  const Settings settings;
  const auto json = nlohmann::json::parse(doctor_json(findings, &settings));
  EXPECT_EQ(json["healthy"], false);
  EXPECT_EQ(json["findings"][0]["grade"], "fail");
  EXPECT_EQ(json["findings"][0]["advice"], "mend");
  EXPECT_EQ(json["settings"]["queue.order"], "\"fair\"");
  const std::string text = doctor_text(findings, &settings);
  EXPECT_NE(text.find("fail  secrets: bad"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("[queue]"), std::string::npos);
}

}  // namespace
}  // namespace coderunner::app
