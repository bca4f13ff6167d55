#include "executor/roles.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "base/ensure.h"

namespace coderunner::executor {
namespace {

constexpr std::array<std::pair<Role, std::string_view>, 4> kArguments{{
    {Role::master, "executor-master"},
    {Role::worker, "executor-worker"},
    {Role::test_worker, "executor-test-worker"},
    {Role::zygote, "executor-zygote"},
}};

}  // namespace

std::string_view to_argument(Role role) {
  for (const auto& [known, argument] : kArguments)
    if (known == role) return argument;
  return {};
}

std::optional<Role> role_from_argument(std::string_view argument) {
  for (const auto& [role, known] : kArguments)
    if (known == argument) return role;
  return std::nullopt;
}

Result<std::string> inherited_settings(Role role) {
  ensure(role != Role::zygote, "a zygote has no settings");
  const int fd = role == Role::master ? kMasterSettings : kWorkerSettings;
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
    return fail(Failure::invalid_input,
                "this subcommand is started by `coderunner serve`, not by hand");
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  // pread: the descriptor's offset is shared with everybody who inherited it.
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  if (got < 0 || static_cast<std::size_t>(got) != text.size())
    return fail(Failure::internal, "the executor's settings cannot be read");
  return text;
}

}  // namespace coderunner::executor
