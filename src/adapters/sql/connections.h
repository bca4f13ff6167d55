// The connections of one store in one process. SQLite's connections to a file share its index, the
// -shm, within a process: as long as one is open, each new one is given the old index, also where
// that was deleted and other processes have made another. So all of them end before one is opened
// again. Shared by a store's sessions; thread-safe.
#pragma once

#include <sys/types.h>

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace coderunner::sql {

class Connections {
 public:
  // Before one is opened; false while older ones must end first: try again soon.
  bool enter() {
    if (must_wait()) {
      const std::lock_guard calling{idle_mutex_};
      if (close_idle_) close_idle_();
    }
    const std::lock_guard lock{mutex_};
    if (draining_ && open_ > 0) return false;
    draining_ = false;
    ++open_;
    return true;
  }
  void leave() {
    const std::lock_guard lock{mutex_};
    if (--open_ == 0) index_.reset();
  }

  // The file of the index they all work with: what the first of them found at its path. A later one
  // may find another there, and still be given the first one's.
  using File = std::pair<dev_t, ino_t>;
  File agree_on_index(const File& found) {
    const std::lock_guard lock{mutex_};
    if (!index_) index_ = found;
    return *index_;
  }

  // From now on every one that is open is to be closed by whoever uses it next.
  void drain() {
    const std::lock_guard lock{mutex_};
    draining_ = open_ > 0;
  }
  bool is_draining() const {
    const std::lock_guard lock{mutex_};
    return draining_;
  }

  // Closes those that nobody uses; called without the locks of any of them. Empty: from here on not
  // any more.
  void set_close_idle(std::function<void()> close_idle) {
    const std::lock_guard calling{idle_mutex_};
    close_idle_ = std::move(close_idle);
  }

 private:
  bool must_wait() const {
    const std::lock_guard lock{mutex_};
    return draining_ && open_ > 0;
  }

  mutable std::mutex mutex_;
  int open_ = 0;
  bool draining_ = false;
  std::optional<File> index_;
  std::mutex idle_mutex_;
  std::function<void()> close_idle_;
};

}  // namespace coderunner::sql
