#include "app/reaper_loop.h"

namespace coderunner::app {

ReaperLoop::ReaperLoop(Reaper& reaper) : reaper_(reaper) {
  thread_ = std::thread{[this] { run(); }};
}

ReaperLoop::~ReaperLoop() { stop(); }

void ReaperLoop::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock{mutex_};
    is_stopping_ = true;
  }
  stopping_.notify_all();
  thread_.join();
}

void ReaperLoop::run() {
  std::unique_lock lock{mutex_};
  while (!is_stopping_) {
    lock.unlock();
    const Millis delay = reaper_.tick();
    lock.lock();
    stopping_.wait_for(lock, delay, [this] { return is_stopping_; });
  }
}

}  // namespace coderunner::app
