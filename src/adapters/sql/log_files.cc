#include "adapters/sql/log_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <tuple>
#include <vector>

namespace coderunner::sql {
namespace {

constexpr std::size_t kCopyBytes = 256UL * 1024;
constexpr mode_t kOwnerOnly = 0600;

class OpenFile {
 public:
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

Error failed(const std::string& path) {
  return fail(Failure::unavailable, fmt::format("{} was taken away and can not be put back: {}",
                                                path, std::strerror(errno)));
}

bool write_all(int descriptor, const char* bytes, std::size_t size, off_t offset) {
  while (size > 0) {
    const ssize_t written = ::pwrite(descriptor, bytes, size, offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= static_cast<std::size_t>(written);
    offset += written;
  }
  return true;
}

}  // namespace

std::optional<LogFiles::Inode> LogFiles::look_at(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return Inode{found.st_dev, found.st_ino, found.st_size};
}

bool LogFiles::remember(const std::string& database, Connections* shared) {
  database_ = database;
  log_path_ = database + "-wal";
  index_path_ = database + "-shm";
  log_ = look_at(log_path_);
  index_ = look_at(index_path_);
  remembered_ = log_ && index_;
  if (remembered_ && shared != nullptr)
    std::tie(index_->device, index_->number) =
        shared->agree_on_index({index_->device, index_->number});
  return remembered_;
}

LogFiles::State LogFiles::state() const {
  if (!remembered_) return State::same;
  const auto log = look_at(log_path_);
  const auto index = look_at(index_path_);
  const bool same_index = index && index->is(*index_);
  // A new index is made from the log; a log with content was put back, or made, by somebody else.
  const bool same_log = log && log->is(*log_);
  if (same_log && same_index) return State::same;
  if (same_log || (log && log->size > 0))
    return same_index ? State::log_replaced : State::index_replaced;
  return same_index ? State::log_gone : State::all_gone;
}

// Whole under another name first: half a log at its path would pass for one that is back.
Result<Done> LogFiles::put_back(const ReadLog& read) const {
  const std::string aside = log_path_ + ".rescued";
  // Crash window log-aside: a copy that nobody reads; the next rescue writes it anew.
  if (auto copied = copy_to(aside, read); !copied) return copied;
  if (const auto standing = look_at(log_path_); standing && standing->size > 0) {
    ::unlink(aside.c_str());
    return Done{};
  }
  if (::rename(aside.c_str(), log_path_.c_str()) != 0) return failed(log_path_);
  return Done{};
}

Result<Done> LogFiles::copy_to(const std::string& path, const ReadLog& read) const {
  const OpenFile copy{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kOwnerOnly)};
  if (copy.get() < 0) return failed(log_path_);
  struct stat database {};
  if (::stat(database_.c_str(), &database) != 0 || ::fchmod(copy.get(), database.st_mode) != 0)
    return failed(log_path_);
  std::vector<char> bytes(kCopyBytes);
  for (off_t offset = 0;;) {
    const auto length = read(bytes.data(), bytes.size(), offset);
    if (!length) return length.error();
    if (*length == 0) break;
    if (!write_all(copy.get(), bytes.data(), *length, offset)) return failed(log_path_);
    offset += static_cast<off_t>(*length);
  }
  if (::fsync(copy.get()) != 0) return failed(log_path_);
  return Done{};
}

}  // namespace coderunner::sql
