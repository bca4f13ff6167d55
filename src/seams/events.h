// Facts for log and metrics: told, never asked. No field may hold an API key, a token or a source.
// Implementations are thread-safe and never fail.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace coderunner {

enum class Level { debug, info, warn, error };

struct Event {
  Level level = Level::info;
  std::string_view name;  // a literal: "dispatch_failed"
  std::optional<ExecutionId> execution;
  std::vector<std::pair<std::string_view, std::string>> fields;
};

class Events {
 public:
  virtual ~Events() = default;
  virtual void record(const Event& event) = 0;
};

}  // namespace coderunner
