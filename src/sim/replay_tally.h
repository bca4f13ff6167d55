// What a replay counts, in all and by account. Told by both worlds, read once at the end.
#pragma once

#include <map>
#include <string>

#include "sim/replay.h"

namespace coderunner::sim {

enum class RunFate { succeeded, killed_at_wall, failed };

class ReplayTally {
 public:
  void arrived(const std::string& account);
  void rejected(const std::string& account);
  void began(const std::string& account, Millis waited);
  void ended(const std::string& account, RunFate fate, Millis held, Millis at);
  // As it stands now, of the rows that wait.
  void backlog(int queued, Millis oldest_age);

  ReplayReport report();

 private:
  template <class Change>
  void both(const std::string& account, Change change) {
    change(report_.all);
    change(report_.accounts[account]);
  }

  ReplayReport report_;
  int in_flight_ = 0;
  std::map<std::string, int> in_flight_of_;
};

}  // namespace coderunner::sim
