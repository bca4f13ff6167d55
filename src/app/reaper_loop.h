// The reaper's thread: tick, wait as long as it said, again. Owned by serve. Decides nothing: the
// reaper does.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "services/reaper.h"

namespace coderunner::app {

class ReaperLoop {
 public:
  explicit ReaperLoop(Reaper& reaper);
  ~ReaperLoop();  // stop()s
  ReaperLoop(const ReaperLoop&) = delete;
  ReaperLoop& operator=(const ReaperLoop&) = delete;

  // Ends the thread after its present tick; wakes it from its wait.
  void stop();

 private:
  void run();

  Reaper& reaper_;
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace coderunner::app
