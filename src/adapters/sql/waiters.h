// Who waits for the store's write lock, over all processes: a waiter holds a shared lock on a file
// beside the store, so that a busy commit queue can see it and leave a gap (rulings 29). A lock of
// a dead process is gone with it. Must never touch the store's own file: closing a second
// descriptor of it would drop the engine's locks.
#pragma once

#include <string>

namespace coderunner::sql {

class Waiters {
 public:
  // Where the file can not be made nobody is ever seen waiting: fairness is lost, nothing else.
  explicit Waiters(const std::string& store_path);
  ~Waiters();
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  void arrive();
  void leave();
  // Whether anybody else waits now.
  bool others() const;

 private:
  int descriptor_ = -1;
};

}  // namespace coderunner::sql
