#include "adapters/system/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace coderunner {
namespace {

Result<std::string> read_open_file(int fd, const std::string& path, std::size_t max_bytes) {
  std::string text;
  char chunk[16384];
  for (;;) {
    const ssize_t got = read(fd, chunk, sizeof chunk);
    if (got == 0) return text;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return fail(Failure::invalid_input,
                  fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    text.append(chunk, static_cast<std::size_t>(got));
    if (text.size() > max_bytes)
      return fail(Failure::invalid_input,
                  fmt::format("{} is larger than {} bytes", path, max_bytes));
  }
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return fail(Failure::invalid_input,
                fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  auto text = read_open_file(fd, path, max_bytes);
  close(fd);
  return text;
}

}  // namespace coderunner
