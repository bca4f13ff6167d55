// The write-ahead log and its index beside a database, by inode: whether they are still the ones a
// connection works on, and putting a deleted log back. SQLite would go on writing to an unlinked
// log, and what it acknowledged would be gone with the last process that holds it. Used by the
// SQLite session, on its thread, outside a transaction unless said.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "adapters/sql/connections.h"
#include "base/result.h"

namespace coderunner::sql {

class LogFiles {
 public:
  // Reads up to `size` bytes of the connection's own log at `offset`; how many there were.
  using ReadLog = std::function<Result<std::size_t>(char* into, std::size_t size, off_t offset)>;

  enum class State {
    same,      // or never remembered
    log_gone,  // nothing, or an empty file, stands at the log's path
    all_gone,  // and the index is gone too, or another one stands there
    // What stands there holds all that was committed: it only has to be opened.
    log_replaced,
    index_replaced,  // likewise, with other locks than ours
  };

  // From here on these are the connection's: call it once the connection has read something.
  // False where one of them is not there.
  bool remember(const std::string& database, Connections* shared);
  void forget() { remembered_ = false; }
  State state() const;

  // Writes the connection's log to its path again. The caller holds the write lock of the same
  // index, so that nobody commits meanwhile; a log that somebody else has put back is left alone.
  Result<Done> put_back(const ReadLog& read) const;

 private:
  struct Inode {
    dev_t device = 0;
    ino_t number = 0;
    off_t size = 0;
    bool is(const Inode& other) const { return device == other.device && number == other.number; }
  };
  static std::optional<Inode> look_at(const std::string& path);
  Result<Done> copy_to(const std::string& path, const ReadLog& read) const;

  bool remembered_ = false;
  std::string database_;
  std::string log_path_;
  std::string index_path_;
  std::optional<Inode> log_;
  std::optional<Inode> index_;
};

}  // namespace coderunner::sql
