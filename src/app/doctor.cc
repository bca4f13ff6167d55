#include "app/doctor.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "adapters/log/escape.h"
#include "adapters/secrets/secret_files.h"
#include "adapters/system/system_entropy.h"
#include "app/config.h"
#include "app/setting_table.h"

namespace coderunner::app {
namespace {

using Findings = std::vector<Finding>;

// What scripts run without where the machine refuses it; everything else is required.
constexpr std::array<std::string_view, 6> kMayBeRefused{
    "user", "network", "files", "other processes", "ipc", "host name"};

void check_secrets(const Settings& settings, const Clock&, Findings& findings) {
  const auto& [salt_file, key_file] = settings.secrets;
  findings.push_back(judge_secret("secrets.salt_file", salt_file));
  findings.push_back(judge_secret("secrets.key_file", key_file));
  for (const Finding& finding : findings)
    if (finding.grade == Grade::fail) return;
  struct stat status {};
  if (::stat(salt_file.c_str(), &status) != 0 || ::stat(key_file.c_str(), &status) != 0) return;
  SystemEntropy entropy;
  const auto loaded = load_secrets({.salt_file = salt_file, .key_file = key_file}, entropy);
  if (loaded)
    findings.push_back({"secrets", Grade::ok, "the salt and the key can be used", ""});
  else
    findings.push_back({"secrets", Grade::fail, loaded.error().message,
                        "put the files back from the backup the store comes from"});
}

void check_executor(const Settings& settings, const Clock& clock, Findings& findings) {
  if (settings.executor.mode != ExecutorMode::builtin) return;
  Findings judged = judge_trial(executor::try_out(
      {.loop_budget = settings.executor.loop_budget, .memory = settings.executor.memory}, clock));
  findings.insert(findings.end(), judged.begin(), judged.end());
}

using Check = void (*)(const Settings&, const Clock&, Findings&);
constexpr std::array<Check, 2> kChecks{check_secrets, check_executor};

Finding judge_feature(const executor::SandboxFeature& feature) {
  const std::string name = "sandbox." + feature.name;
  if (feature.holds) return {name, Grade::ok, feature.detail, ""};
  const bool may_be_refused =
      std::find(kMayBeRefused.begin(), kMayBeRefused.end(), feature.name) != kMayBeRefused.end();
  if (!may_be_refused)
    return {name, Grade::fail, feature.detail,
            "run no stranger's scripts here: the kernel does not confine them"};
  return {name, Grade::warn, feature.detail,
          "let the service make namespaces (user.max_user_namespaces, the unit's "
          "RestrictNamespaces=, the container's profile); until then the system call filter alone "
          "stands between scripts and this"};
}

}  // namespace

std::string_view to_text(Grade grade) {
  switch (grade) {
    case Grade::ok: return "ok";
    case Grade::warn: return "warn";
    case Grade::fail: return "fail";
  }
  return {};
}

Finding judge_secret(std::string_view setting, const std::string& path) {
  Finding finding{std::string{setting}, Grade::ok, "", ""};
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) {
      finding.grade = Grade::warn;
      finding.what = fmt::format("{} is not there", path);
      finding.advice =
          "nothing to do before a first start, which makes it; beside a store with executions put "
          "it back from the backup";
      return finding;
    }
    finding.grade = Grade::fail;
    finding.what = fmt::format("{}: {}", path, std::strerror(errno));
    finding.advice = "let the service's user read it";
    return finding;
  }
  const unsigned mode = status.st_mode & 07777U;
  finding.what = fmt::format("{} is there, mode {:04o}", path, mode);
  if ((mode & (S_IRWXG | S_IRWXO)) != 0) {
    finding.grade = Grade::warn;
    finding.advice = fmt::format("others can reach it: chmod 600 {}", path);
  }
  return finding;
}

std::vector<Finding> judge_trial(const Result<executor::Trial>& trial) {
  if (!trial)
    return {{"executor", Grade::fail, trial.error().message,
             "no script can run; look at the limits of the service (processes, memory, seccomp)"}};
  Findings findings;
  for (const executor::SandboxFeature& feature : trial->sandbox.features)
    findings.push_back(judge_feature(feature));
  if (trial->script)
    findings.push_back({"executor", Grade::ok, "a script ran in a fresh process to its end", ""});
  else
    findings.push_back(
        {"executor", Grade::fail, trial->script.error().message,
         "no script can run; look at the limits of the service (processes, memory, seccomp)"});
  return findings;
}

std::vector<Finding> examine(const Settings& settings, const Clock& clock) {
  Findings findings;
  for (const Check check : kChecks) check(settings, clock, findings);
  findings.insert(findings.begin(), {"configuration", Grade::ok, "every setting is valid", ""});
  return findings;
}

bool is_healthy(const std::vector<Finding>& findings) {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return finding.grade == Grade::fail; });
}

std::string doctor_json(const std::vector<Finding>& findings, const Settings* effective) {
  nlohmann::ordered_json json{{"healthy", is_healthy(findings)},
                              {"findings", nlohmann::ordered_json::array()}};
  for (const Finding& finding : findings)
    json["findings"].push_back({{"name", finding.name},
                                {"grade", to_text(finding.grade)},
                                {"what", finding.what},
                                {"advice", finding.advice}});
  json["settings"] = nlohmann::ordered_json::object();
  if (effective != nullptr)
    for (const SettingRow& row : setting_table())
      json["settings"][std::string{row.key}] = print_value(row, *effective);
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string doctor_text(const std::vector<Finding>& findings, const Settings* effective) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{:<4}  {}: {}\n", to_text(finding.grade), finding.name,
                        escape_controls(finding.what));
    if (!finding.advice.empty()) text += "      " + escape_controls(finding.advice) + "\n";
  }
  if (effective != nullptr) text += "\nThe effective settings:\n\n" + to_toml(*effective);
  return text;
}

}  // namespace coderunner::app
