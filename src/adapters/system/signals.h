// SIGTERM and SIGINT as something to poll. Made once by a main, before its first thread, so that
// every thread has them blocked; children that are exec'ed inherit the block and must call
// unblock_stop_signals() if they want the default. Never runs code in a signal handler.
#pragma once

#include "base/result.h"
#include "base/time.h"

namespace coderunner {

class StopSignals {
 public:
  // Blocks both signals in the calling thread.
  static Result<StopSignals> block();
  StopSignals(StopSignals&& other) noexcept;
  StopSignals& operator=(StopSignals&&) = delete;
  ~StopSignals();

  // Readable when one has arrived; close-on-exec.
  int fd() const { return fd_; }
  // Takes one waiting signal without blocking; false where there is none.
  bool take();
  // Blocks until one arrives or `at_most` has passed; true where one was taken.
  bool wait(Millis at_most);

 private:
  explicit StopSignals(int fd) : fd_(fd) {}
  int fd_ = -1;
};

// For the calling thread: SIGTERM and SIGINT act as by default again.
void unblock_stop_signals();

// A peer that closes early is an error code of the write, not the end of the process.
void ignore_broken_pipes();

}  // namespace coderunner
