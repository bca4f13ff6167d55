#include "executor/jail.h"

#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "base/ensure.h"
#include "domain/limits.h"
#include "executor/sandbox_profile.h"

namespace coderunner::executor {
namespace {

constexpr id_t kNobody = 65534;

Error failed(const char* step) {
  return fail(Failure::internal, std::string{step} + ": " + std::strerror(errno));
}

bool keep_one_descriptor(int socket) {
  if (socket != kJailSocket && ::dup2(socket, kJailSocket) < 0) return false;
#ifndef __SANITIZE_ADDRESS__  // its reports go to stderr
  ::close(STDERR_FILENO);
#endif
  ::close(STDIN_FILENO);
  ::close(STDOUT_FILENO);
  return ::close_range(kJailSocket + 1, ~0U, 0) == 0;
}

// Never above what was there: the operator may have limited the service itself.
bool limit(__rlimit_resource_t resource, rlim_t soft, rlim_t hard) {
  rlimit found{};
  if (::getrlimit(resource, &found) != 0) return false;
  const rlimit limits{std::min(soft, found.rlim_max), std::min(hard, found.rlim_max)};
  return ::setrlimit(resource, &limits) == 0;
}

bool limit_nothing(__rlimit_resource_t resource) { return limit(resource, 0, 0); }

// Behind the Lua state's own cap, which has a message: memory that is not Lua's.
bool limit_memory(const Jail& jail) {
  if (kIsSanitizerBuild) return true;
  // Twice: moving a block holds the old and the new one.
  const rlim_t most = jail.memory_before + 2 * jail.limits.memory + limits::kScriptMemoryBeyondLua;
  return limit(RLIMIT_DATA, most, most) &&
         limit(RLIMIT_STACK, limits::kScriptStack, limits::kScriptStack);
}

bool limit_resources(const Jail& jail) {
  const auto cpu = static_cast<rlim_t>(std::chrono::ceil<std::chrono::seconds>(
                                           jail.limits.loop_budget + limits::kScriptCpuBeyondBudget)
                                           .count());
  return limit(RLIMIT_CPU, cpu, cpu + 1) &&  // SIGXCPU tells this death from others
         limit(RLIMIT_NOFILE, kJailSocket + 1, kJailSocket + 1) && limit_nothing(RLIMIT_CORE) &&
         limit_nothing(RLIMIT_FSIZE) && limit_nothing(RLIMIT_NPROC) &&
         limit_nothing(RLIMIT_MEMLOCK) && limit_nothing(RLIMIT_MSGQUEUE) &&
         limit_nothing(RLIMIT_NICE) && limit_nothing(RLIMIT_RTPRIO) && limit_memory(jail);
}

bool drop_identity() {
  if (::geteuid() != 0) return true;  // the service's own uid; a user namespace is all it can have
  return ::setgroups(0, nullptr) == 0 && ::setresgid(kNobody, kNobody, kNobody) == 0 &&
         ::setresuid(kNobody, kNobody, kNobody) == 0;
}

// By number: the C library has no wrapper, and nothing else here needs another library.
bool drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  return ::syscall(SYS_capset, &header, none) == 0;
}

}  // namespace

Result<Done> enter_jail(const Jail& jail) {
  // Without it there is not even a socket to say so on.
  ensure(keep_one_descriptor(jail.socket), "a script process can not close descriptors");
  if (!limit_resources(jail)) return failed("resource limits");
  if (!drop_identity()) return failed("changing to an unprivileged user");
  if (!drop_capabilities()) return failed("dropping capabilities");
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) return failed("closing itself to tracers");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed("no new privileges");
  // After the change of uid, which clears it.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return failed("dying with the parent");
  // The parent may have died before the line above.
  if (::getppid() != jail.parent) return fail(Failure::unavailable, "the parent has died");
  if (jail.filter != nullptr && !jail.filter->load()) return failed("system call filter");
  return Done{};
}

}  // namespace coderunner::executor
