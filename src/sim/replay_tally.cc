#include "sim/replay_tally.h"

#include <algorithm>
#include <utility>

namespace coderunner::sim {

void ReplayTally::arrived(const std::string& account) {
  both(account, [](ReplayFigures& figures) { ++figures.arrivals; });
}

void ReplayTally::rejected(const std::string& account) {
  both(account, [](ReplayFigures& figures) { ++figures.rejected; });
}

void ReplayTally::began(const std::string& account, Millis waited) {
  both(account, [waited](ReplayFigures& figures) { figures.waits.push_back(waited); });
  const int of_account = ++in_flight_of_[account];
  report_.all.max_in_flight = std::max(report_.all.max_in_flight, ++in_flight_);
  ReplayFigures& figures = report_.accounts[account];
  figures.max_in_flight = std::max(figures.max_in_flight, of_account);
  report_.max_in_flight_per_account = std::max(report_.max_in_flight_per_account, of_account);
}

void ReplayTally::ended(const std::string& account, RunFate fate, Millis held, Millis at) {
  --in_flight_;
  --in_flight_of_[account];
  both(account, [&](ReplayFigures& figures) {
    figures.worker_time += held;
    figures.drained_at = std::max(figures.drained_at, at);
    switch (fate) {
      case RunFate::succeeded: ++figures.succeeded; break;
      case RunFate::failed: ++figures.failed; break;
      case RunFate::killed_at_wall:
        ++figures.killed_at_wall;
        figures.killed_worker_time += held;
        figures.last_kill_at = std::max(figures.last_kill_at, at);
        break;
    }
  });
}

void ReplayTally::backlog(int queued, Millis oldest_age) {
  report_.all.max_queued = std::max(report_.all.max_queued, queued);
  report_.all.max_queued_age = std::max(report_.all.max_queued_age, oldest_age);
}

ReplayReport ReplayTally::report() {
  std::ranges::sort(report_.all.waits);
  for (auto& [account, figures] : report_.accounts) std::ranges::sort(figures.waits);
  return std::move(report_);
}

Millis percentile(const std::vector<Millis>& sorted, int percent) {
  if (sorted.empty()) return Millis{0};
  const std::size_t rank = (sorted.size() * static_cast<std::size_t>(percent) + 99) / 100;
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace coderunner::sim
