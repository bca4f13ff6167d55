// What happens next in a simulated run: ordered by (time, order of planning), so that equal times
// have one order for ever.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/time.h"

namespace coderunner::sim {

class EventQueue {
 public:
  void plan(MonoTime at, std::function<void()> event) {
    events_.emplace(std::pair{at, ++planned_}, std::move(event));
  }
  std::optional<MonoTime> next_time() const {
    return events_.empty() ? std::nullopt : std::optional{events_.begin()->first.first};
  }
  std::function<void()> take() {
    const auto first = events_.begin();
    std::function<void()> event = std::move(first->second);
    events_.erase(first);
    return event;
  }

 private:
  std::map<std::pair<MonoTime, std::uint64_t>, std::function<void()>> events_;
  std::uint64_t planned_ = 0;
};

}  // namespace coderunner::sim
