#include "fake/delay_line.h"

#include <utility>

namespace coderunner::fake {

DelayLine::DelayLine(const Clock& clock) : clock_(clock), thread_([this] { run(); }) {}

DelayLine::~DelayLine() {
  {
    const std::lock_guard lock{mutex_};
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void DelayLine::after(Millis delay, std::function<void()> later) {
  {
    const std::lock_guard lock{mutex_};
    waiting_.emplace(clock_.mono_now() + delay, std::move(later));
  }
  changed_.notify_one();
}

void DelayLine::run() {
  std::unique_lock lock{mutex_};
  while (!ending_) {
    if (waiting_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto first = waiting_.begin();
    const MonoTime now = clock_.mono_now();
    if (first->first > now) {
      changed_.wait_for(lock, first->first - now);
      continue;
    }
    const auto due = std::move(first->second);
    waiting_.erase(first);
    lock.unlock();
    due();
    lock.lock();
  }
}

}  // namespace coderunner::fake
