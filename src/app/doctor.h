// What `coderunner doctor` looks at and what it finds: a list of findings, one a subject, each with
// what to do where something is wrong. Looks only: makes no file, starts no daemon, writes no row.
// A subject is one function in doctor.cc, listed in the order a start needs them; store, clock and
// gate store take their places there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/settings.h"
#include "executor/trial.h"
#include "seams/clock.h"

namespace coderunner::app {

enum class Grade { ok, warn, fail };

struct Finding {
  std::string name;  // "secrets.salt_file", "sandbox.network"
  Grade grade = Grade::ok;
  std::string what;
  std::string advice;  // what to do; empty where all is well
  friend bool operator==(const Finding&, const Finding&) = default;
};

std::string_view to_text(Grade grade);

std::vector<Finding> examine(const Settings& settings, const Clock& clock);

// True where nothing failed; a warning is no failure.
bool is_healthy(const std::vector<Finding>& findings);

// The parts of examine() that only judge. A machine that refuses namespaces is warned about,
// because scripts run there, held by the filter alone; what else does not hold fails.
Finding judge_secret(std::string_view setting, const std::string& path);
std::vector<Finding> judge_trial(const Result<executor::Trial>& trial);

// {"healthy":…,"findings":[{"name","grade","what","advice"}],"settings":{"queue.order":…}}
std::string doctor_json(const std::vector<Finding>& findings, const Settings* effective);
// A line for each finding, its advice below it, then the effective settings as a file holds them.
std::string doctor_text(const std::vector<Finding>& findings, const Settings* effective);

}  // namespace coderunner::app
