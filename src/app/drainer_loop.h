// The drainer's thread: tick, wait in the transport until the next wanted tick, a completion or a
// wake-up, again. Owned by serve. Decides nothing: the drainer does.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "base/time.h"
#include "services/drainer.h"

namespace coderunner::app {

struct DrainerLoopParts {
  Drainer& drainer;
  std::function<void(Millis)> wait;  // until a completion, a wake() or the time is over
  std::function<void()> wake;        // thread-safe
};

class DrainerLoop {
 public:
  explicit DrainerLoop(DrainerLoopParts parts);
  ~DrainerLoop();  // stop()s
  DrainerLoop(const DrainerLoop&) = delete;
  DrainerLoop& operator=(const DrainerLoop&) = delete;

  void wake() { parts_.wake(); }
  DrainerStatus status() const;  // after the last tick; thread-safe
  // Ticks go on settling but start nothing more, once a tick under way has ended: until then
  // status() may still lack what that one starts.
  void stop_picking();
  bool has_stopped_picking() const;  // thread-safe
  // Ends the thread after its present tick.
  void stop();

 private:
  void run();

  DrainerLoopParts parts_;
  std::atomic<bool> picking_ = true;
  std::atomic<bool> running_ = true;
  mutable std::mutex mutex_;
  DrainerStatus status_;
  bool has_stopped_picking_ = false;
  std::thread thread_;
};

}  // namespace coderunner::app
