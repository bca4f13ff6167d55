// The master's workers: who is idle, who is busy since when, whose run was left behind. Starts
// them, hands them connections, buries them. Knows no listener and no poll loop (the master's); the
// scoreboard is how it sees what a worker is at.
#pragma once

#include <sys/types.h>

#include <deque>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/channel.h"
#include "executor/roles.h"
#include "executor/scoreboard.h"
#include "executor/settings.h"
#include "seams/clock.h"
#include "seams/events.h"

namespace coderunner::executor {

struct PoolWorker {
  pid_t pid = 0;
  int slot = 0;
  Descriptor channel;
  bool is_busy = false;     // has a connection or a row to finish
  bool is_leaving = false;  // was told to exit or stop
  bool was_killed = false;  // by the master, for outstaying its wall or lying still
  MonoTime idle_since{};
  std::optional<std::string> abandoning;  // the message it was given, until it says it is done
};

struct PoolParts {
  const PoolSettings& settings;
  Scoreboard& board;
  int settings_descriptor = -1;  // passed on
  const Clock& clock;
  Events& events;
  Role role = Role::worker;
  int kept_idle = 1;  // workers that are not let go however long they are idle
  std::string_view full = "max_children_reached";  // the event of a connection that found no room
};

class Pool {
 public:
  explicit Pool(const PoolParts& parts) : parts_(parts) {}

  std::list<PoolWorker>& workers() { return workers_; }
  bool is_empty() const { return workers_.empty() && abandoned_.empty(); }

  // False where there is no room, or no worker can be made: nobody has the connection then.
  bool hand_over(const Descriptor& connection);
  // "idle" or "abandoned" from a worker, or its end of the channel closing.
  void hear(PoolWorker& worker, const Message& message);
  // A reaped child; false where it is none of the pool's. Its run, if it had one, is left behind
  // for the next worker.
  bool bury(pid_t pid, int wait_status);
  // Kills what has outstayed its wall or lies still, lets surplus idle workers go, finds somebody
  // for runs left behind. Answers when it wants to be called again.
  std::optional<MonoTime> tend(MonoTime now);
  // No more connections will come: idle workers go, busy ones go when they are done.
  void let_all_go();
  // The same, and runs are cut.
  void stop_all();
  void kill_all();

 private:
  PoolWorker* idle_or_new();
  PoolWorker* start_worker();
  int free_slot() const;
  void ask_to_leave(PoolWorker& worker, std::string_view verb);
  void kill_overdue(MonoTime now);
  void trim_idle(MonoTime now);
  void finish_abandoned(MonoTime now);

  PoolParts parts_;
  std::list<PoolWorker> workers_;
  std::deque<std::string> abandoned_;  // texts of "abandon" messages
  MonoTime abandon_again_at_{};
  bool is_ending_ = false;
};

}  // namespace coderunner::executor
