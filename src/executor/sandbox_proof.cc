#include "executor/sandbox_proof.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "domain/limits.h"
#include "executor/channel.h"

namespace coderunner::executor {
namespace {

// In the child: 0 = it was refused; an errno = it was refused for another reason than it should be;
// kWentThrough = it was possible.
using Attempt = int (*)();
constexpr int kWentThrough = 200;
constexpr int kNoJail = 201;

int refused_with(long answer, int expected) {
  if (answer >= 0) return kWentThrough;
  return errno == expected ? 0 : errno;
}

enum class Depth { without_filter, whole };

// The wait status of a child that enters the jail and tries.
int status_of(const Sandbox& sandbox, Depth depth, Attempt attempt) {
  auto ends = make_byte_stream();
  if (!ends) return -1;
  Jail jail = sandbox.jail(ends->second.get(), {});
  if (depth == Depth::without_filter) jail.filter = nullptr;
  const pid_t child = ::fork();
  if (child < 0) return -1;
  if (child == 0) {
    ::alarm(static_cast<unsigned>(
        std::chrono::ceil<std::chrono::seconds>(limits::kSandboxTry).count()));
    ::_exit(enter_jail(jail) ? attempt() : kNoJail);
  }
  int status = -1;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

std::string describe(int status) {
  if (status == -1) return "it could not be tried";
  if (WIFSIGNALED(status)) return fmt::format("killed by signal {}", WTERMSIG(status));
  switch (WEXITSTATUS(status)) {
    case 0: return "refused, but not by this";
    case kWentThrough: return "it was possible";
    case kNoJail: return "the jail cannot be entered";
    default: return std::strerror(WEXITSTATUS(status));
  }
}

struct NamedAttempt {
  const char* name;
  Attempt attempt;
};

// ---- What the filter forbids: each is death by SIGSYS.

constexpr std::array<NamedAttempt, 8> kForbiddenCalls{{
    {"open", [] { return ::open("/", O_RDONLY) < 0 ? errno : kWentThrough; }},
    {"socket", [] { return ::socket(AF_INET, SOCK_STREAM, 0) < 0 ? errno : kWentThrough; }},
    {"fork",
     [] {
       return static_cast<int>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) < 0 ? errno
                                                                              : kWentThrough;
     }},
    {"execve",
     [] {
       const char* const nothing[] = {nullptr};
       ::syscall(SYS_execve, "/", nothing, nothing);
       return errno;
     }},
    {"kill", [] { return ::kill(1, 0) < 0 ? errno : kWentThrough; }},
    {"ptrace", [] { return ::ptrace(PTRACE_TRACEME, 0, 0, 0) < 0 ? errno : kWentThrough; }},
    {"executable memory",
     [] {
       void* const code =
           ::mmap(nullptr, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
       return code == MAP_FAILED ? errno : kWentThrough;
     }},
    {"recv elsewhere",
     [] { return ::recv(kJailSocket + 1, nullptr, 0, 0) < 0 ? errno : kWentThrough; }},
}};

SandboxFeature system_calls(const Sandbox& sandbox) {
  std::string killed;
  for (const auto& [name, attempt] : kForbiddenCalls) {
    const int status = status_of(sandbox, Depth::whole, attempt);
    if (status == -1 || !WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
      return {"system calls", false, fmt::format("{}: {}", name, describe(status))};
    killed += (killed.empty() ? "" : ", ") + std::string{name};
  }
  return {"system calls", true, "SIGSYS for " + killed};
}

// ---- What holds without the filter.

int try_descriptors() {
  for (int fd = 0; fd < 1024; ++fd)
    if (fd != kJailSocket && ::fcntl(fd, F_GETFD) != -1) return kWentThrough;
  return ::fcntl(kJailSocket, F_GETFD) == -1 ? errno : 0;
}

int try_user() {
  if (::getuid() == 0 || ::geteuid() == 0) return kWentThrough;
  const int refused = refused_with(::setresuid(0, 0, 0), EPERM);
  return refused == EINVAL ? 0 : refused;  // in its user namespace there is no root
}

int try_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capget, &header, held) != 0) return errno;
  for (const auto& half : held)
    if ((half.effective | half.permitted | half.inheritable) != 0) return kWentThrough;
  return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : kWentThrough;
}

int try_fork() { return refused_with(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0), EAGAIN); }

int try_memory() {
  rlimit most{};
  if (::getrlimit(RLIMIT_DATA, &most) != 0 || most.rlim_cur == RLIM_INFINITY) return kWentThrough;
  const void* const all = ::mmap(nullptr, most.rlim_cur, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return all == MAP_FAILED ? refused_with(-1, ENOMEM) : kWentThrough;
}

int try_tracing() {
  if (::prctl(PR_GET_DUMPABLE) != 0) return kWentThrough;
  int at_parents_death = 0;
  if (::prctl(PR_GET_PDEATHSIG, &at_parents_death) != 0) return errno;
  return at_parents_death == SIGKILL ? 0 : kWentThrough;
}

int try_network() {
  const Descriptor socket{::socket(AF_INET, SOCK_DGRAM, 0)};  // no packet: just a route
  if (!socket.is_open()) return 0;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(9);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return refused_with(
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
      ENETUNREACH);
}

int try_files() {
  for (const char* path : {"/etc", "/proc/self", "/dev/null", "/usr"}) {
    const int refused = refused_with(::open(path, O_RDONLY), ENOENT);
    if (refused != 0) return refused;
  }
  return 0;
}

// All it may signal but itself and the init: nobody.
int try_processes() {
  if (::getppid() != 0) return kWentThrough;
  return refused_with(::kill(-1, 0), ESRCH);
}

struct Layer {
  const char* name;
  Attempt attempt;
  const char* tried;
};

constexpr std::array<Layer, 5> kOwnMeans{{
    {"descriptors", try_descriptors, "its socket is the only one open"},
    {"capabilities", try_capabilities, "none, and none can be gained"},
    {"no fork", try_fork, "EAGAIN"},
    {"memory", try_memory, "ENOMEM beyond its limit"},
    {"no tracing", try_tracing, "not dumpable; dies with the zygote"},
}};

SandboxFeature feature(const Sandbox& sandbox, const Layer& layer, const WhyNot& why_not = {}) {
  if (why_not) return {layer.name, false, *why_not};
  const int status = status_of(sandbox, Depth::without_filter, layer.attempt);
  const bool holds = status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return {layer.name, holds, holds ? layer.tried : describe(status)};
}

SandboxFeature entered(const char* name, const WhyNot& why_not) {
  return {name, !why_not, why_not.value_or("a namespace of its own")};
}

}  // namespace

SandboxReport prove_sandbox(const Sandbox& sandbox) {
  SandboxReport report;
  auto& features = report.features;
  features.push_back(system_calls(sandbox));
  for (const Layer& layer : kOwnMeans) features.push_back(feature(sandbox, layer));
  const Namespaces& in = sandbox.namespaces();
  features.push_back(
      feature(sandbox, {"user", try_user, "not root, and cannot become it"}, in.user));
  features.push_back(
      feature(sandbox, {"network", try_network, "no route even to loopback"}, in.network));
  features.push_back(feature(sandbox, {"files", try_files, "an empty root"}, in.files));
  features.push_back(feature(
      sandbox, {"other processes", try_processes, "sees neither the zygote nor the machine"},
      in.processes));
  features.push_back(entered("ipc", in.ipc));
  features.push_back(entered("host name", in.host_name));
  return report;
}

}  // namespace coderunner::executor
