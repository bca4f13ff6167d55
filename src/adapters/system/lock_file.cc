#include "adapters/system/lock_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace coderunner {
namespace {

// What the holder wrote, for people only: it may be stale or half-written, the flock decides.
std::string holder(int fd) {
  char text[32] = {};
  const ssize_t length = pread(fd, text, sizeof text - 1, 0);
  std::string pid;
  for (ssize_t at = 0; at < length && text[at] >= '0' && text[at] <= '9'; ++at) pid += text[at];
  return pid.empty() ? std::string{"another process"} : fmt::format("process {}", pid);
}

void sign(int fd) {
  const std::string pid = fmt::format("{}\n", getpid());
  if (ftruncate(fd, 0) != 0) return;
  [[maybe_unused]] const ssize_t written = pwrite(fd, pid.data(), pid.size(), 0);
}

}  // namespace

Result<LockFile> LockFile::acquire(const LockOptions& options) {
  std::error_code ignored;  // open() says it better
  if (const auto folder = std::filesystem::path{options.path}.parent_path(); !folder.empty())
    std::filesystem::create_directories(folder, ignored);
  LockFile lock{open(options.path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640)};
  if (lock.fd_ < 0)
    return fail(Failure::unavailable, fmt::format("cannot open the lock file {}: {}", options.path,
                                                  std::strerror(errno)));
  while (flock(lock.fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK)
      return fail(Failure::unavailable,
                  fmt::format("cannot lock {}: {}", options.path, std::strerror(errno)));
    if (!options.keep_waiting || !options.keep_waiting())
      return fail(Failure::conflict,
                  fmt::format("{} is held by {}", options.path, holder(lock.fd_)));
  }
  // Crash window lock-unsigned: the last holder's pid stays in the file: a wrong name, never a
  // wrong lock.
  sign(lock.fd_);
  return lock;
}

LockFile::LockFile(LockFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

bool LockFile::is_named(const std::string& path) const {
  struct stat held {};
  struct stat named {};
  return fstat(fd_, &held) == 0 && stat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
         held.st_dev == named.st_dev;
}

LockFile::~LockFile() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace coderunner
