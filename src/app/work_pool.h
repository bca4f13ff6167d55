// Threads for work that may block (the store, a parse), so that HTTP's I/O threads never do. Owned
// by serve; work is refused when too much waits, and what was accepted is finished before stop()
// returns.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace coderunner::app {

class WorkPool {
 public:
  WorkPool(int threads, std::size_t max_waiting);
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  // False where max_waiting pieces wait already, or after stop(). Thread-safe.
  [[nodiscard]] bool post(std::function<void()> work);
  void stop();

 private:
  void run();

  std::size_t max_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace coderunner::app
