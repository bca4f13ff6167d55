// How settings become the parts of a process, where more than one process needs them so: the
// executor's settings, the names of files. Called by serve and the executor's entry points.
#pragma once

#include <string>

#include "app/settings.h"
#include "executor/settings.h"

namespace coderunner::app {

executor::PoolSettings pool_settings(const Settings& settings);
executor::RunSettings run_settings(const Settings& settings);
executor::RunSettings test_run_settings(const Settings& settings);  // of the test lane
GatePolicy gate_policy(const Settings& settings);

// The drainer's lock beside the store: "var/coderunner.db.lock".
std::string lock_path(const Settings& settings);

}  // namespace coderunner::app
