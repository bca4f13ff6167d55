// Exclusive ownership of a store by one drainer process (rulings 26): an flock held until the
// object dies or the process does, however it dies. Taken by app/ at start. The file is never
// deleted: a second file of the same name would be a second lock.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace coderunner {

struct LockOptions {
  std::string path;
  // Asked between attempts while another process holds the lock: false gives up with `conflict`.
  // Does its own waiting (StopSignals::wait, pause). Absent: gives up at once.
  std::function<bool()> keep_waiting;
};

class LockFile {
 public:
  // conflict: another process holds it (the message names its pid where it can be read);
  // unavailable: the file cannot be opened. The
  // folder is made where it is missing. Held by this very open: a fork without exec would share
  // it, an exec loses it.
  static Result<LockFile> acquire(const LockOptions& options);
  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&&) = delete;
  ~LockFile();

  // Whether `path` still names the file that is held: otherwise somebody deleted it, and the next
  // process that comes would hold another one.
  bool is_named(const std::string& path) const;

 private:
  explicit LockFile(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace coderunner
