// What the executor's processes are told by the configuration (contract section 5), as plain
// values. Filled by app/ in each process from the settings text the launcher passed on. Holds no
// secret.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/time.h"
#include "domain/limits.h"
#include "domain/retry_ladder.h"

namespace coderunner::executor {

struct ApiSettings {
  std::string base_url;  // api.base_url, with "{account}" where the account's name goes
  Millis timeout = limits::kApiTimeout;  // of one attempt; always clipped to the wall
  friend bool operator==(const ApiSettings&, const ApiSettings&) = default;
};

struct ScriptLimits {  // what a script process is held to
  Millis loop_budget = limits::kLoopBudget;
  std::size_t memory = limits::kScriptMemory;
  friend bool operator==(const ScriptLimits&, const ScriptLimits&) = default;
};

struct RunSettings {  // for workers
  Millis wall = limits::kWall;
  ScriptLimits script;
  ApiSettings api;
  LadderPolicy ladder;
};

// Of a run in the test lane (contract section 2).
constexpr Millis test_wall(Millis wall) { return std::min(wall, limits::kTestWall); }

struct PoolSettings {  // for the master
  int max_children = limits::kMaxChildren;
  Millis wall = limits::kWall;
  Millis finish_attempt = limits::kFinishAttempt;
};

}  // namespace coderunner::executor
