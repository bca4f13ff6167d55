#include "app/drainer_loop.h"

#include <utility>

namespace coderunner::app {

DrainerLoop::DrainerLoop(DrainerLoopParts parts) : parts_(std::move(parts)) {
  thread_ = std::thread{[this] { run(); }};
}

DrainerLoop::~DrainerLoop() { stop(); }

DrainerStatus DrainerLoop::status() const {
  const std::lock_guard lock{mutex_};
  return status_;
}

bool DrainerLoop::has_stopped_picking() const {
  const std::lock_guard lock{mutex_};
  return has_stopped_picking_;
}

void DrainerLoop::stop_picking() {
  picking_ = false;
  parts_.wake();
}

void DrainerLoop::stop() {
  if (!thread_.joinable()) return;
  running_ = false;
  parts_.wake();
  thread_.join();
}

void DrainerLoop::run() {
  while (running_) {
    const bool picking = picking_;
    if (!picking) parts_.drainer.stop_picking();
    const Millis delay = parts_.drainer.tick();
    {
      const std::lock_guard lock{mutex_};
      status_ = parts_.drainer.status();
      has_stopped_picking_ = !picking;
    }
    if (delay > Millis{0} && running_) parts_.wait(delay);
  }
}

}  // namespace coderunner::app
