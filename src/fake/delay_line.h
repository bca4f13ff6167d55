// Runs things later without holding a thread for each: the fake API's latency. Made by its main;
// one thread of its own. Never runs anything early; what waits at its end is let go.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "base/time.h"
#include "seams/clock.h"

namespace coderunner::fake {

class DelayLine {
 public:
  explicit DelayLine(const Clock& clock);  // outlives it
  DelayLine(const DelayLine&) = delete;
  DelayLine& operator=(const DelayLine&) = delete;
  ~DelayLine();

  // Calls `later` on the line's thread once `delay` has passed. Thread-safe.
  void after(Millis delay, std::function<void()> later);

 private:
  void run();

  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<MonoTime, std::function<void()>> waiting_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace coderunner::fake
