#include "executor/jail.h"

#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "base/ensure.h"
#include "domain/limits.h"

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

bool limit(__rlimit_resource_t resource, rlim_t soft, rlim_t hard) {
  const rlimit limits{soft, hard};
  return ::setrlimit(resource, &limits) == 0;
}

bool limit_resources(const ScriptLimits& limits) {
  const auto cpu = static_cast<rlim_t>(
      std::chrono::ceil<std::chrono::seconds>(limits.loop_budget + limits::kScriptCpuBeyondBudget)
          .count());
  return limit(RLIMIT_CPU, cpu, cpu + 1) &&  // SIGXCPU tells this death from others
         limit(RLIMIT_CORE, 0, 0) && limit(RLIMIT_FSIZE, 0, 0) &&
         limit(RLIMIT_NOFILE, kJailSocket + 1, kJailSocket + 1) && limit(RLIMIT_NPROC, 0, 0);
}

bool drop_identity() {
  if (::geteuid() != 0) return true;  // the service's own uid: a pid namespace is all it could have
  return ::setgroups(0, nullptr) == 0 && ::setresgid(kNobody, kNobody, kNobody) == 0 &&
         ::setresuid(kNobody, kNobody, kNobody) == 0;
}

}  // namespace

Result<Done> enter_jail(const Jail& jail) {
  // Without it there is not even a socket to say so on.
  ensure(keep_one_descriptor(jail.socket), "a script process can not close descriptors");
  if (!limit_resources(jail.limits)) return failed("resource limits");
  if (!drop_identity()) return failed("changing to an unprivileged user");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed("no new privileges");
  // After the change of uid, which clears it.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return failed("dying with the parent");
  // The parent may have died before the line above.
  if (::getppid() != jail.parent) return fail(Failure::unavailable, "the parent has died");
  return Done{};
}

}  // namespace coderunner::executor
