// What a script's process could try if a stranger had taken it over: each attempt is made in a
// child that has entered the very jail scripts run in (a patched script process, as it were).
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "executor/channel.h"
#include "executor/sandbox.h"
#include "executor/sandbox_profile.h"
#include "executor/sandbox_proof.h"
#include "tests/integration/executor/pool_fixture.h"

namespace coderunner::executor_test {
namespace {

using namespace executor;

// What the attempts reach for; in the memory of every child, as it would be known to an attacker.
struct Targets {
  std::string key_file;
  pid_t worker = 0;         // a process outside, of the service's own user
  long* allowed = nullptr;  // a page of its own
};
Targets targets;  // a global: the attempts are plain functions

long raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  return ::syscall(number, a, b, c, d, e, f);
}
long address(const void* pointer) { return reinterpret_cast<long>(pointer); }

struct Attempt {
  const char* name;
  long (*make)();  // what the system call answers
  int error = 0;   // 0: it must be death by SIGSYS
};

constexpr int kExited = 100;  // of a child: the attempt went through
constexpr int kNoJail = 101;

const Attempt kAttempts[] = {
    {"fork", [] { return raw(SYS_clone, SIGCHLD); }},
#ifdef SYS_fork
    {"fork by its old number", [] { return raw(SYS_fork); }},
    {"vfork", [] { return raw(SYS_vfork); }},
#endif
    {"clone of a thread",
     [] {
       return raw(SYS_clone, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD);
     }},
    {"clone3",
     [] {
       std::uint64_t arguments[11] = {};
       arguments[4] = SIGCHLD;
       return raw(SYS_clone3, address(arguments), sizeof arguments);
     }},
    {"execve",
     [] {
       const char* const arguments[] = {"/bin/sh", nullptr};
       return raw(SYS_execve, address("/bin/sh"), address(arguments), address(arguments + 1));
     }},
    {"execveat", [] { return raw(SYS_execveat, AT_FDCWD, address("/bin/sh")); }},
    {"socket", [] { return raw(SYS_socket, AF_INET, SOCK_STREAM); }},
    {"socketpair",
     [] {
       int ends[2] = {};
       return raw(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, address(ends));
     }},
    {"connect of its own socket",
     [] {
       sockaddr_in to{};
       to.sin_family = AF_INET;
       return raw(SYS_connect, kJailSocket, address(&to), sizeof to);
     }},
    {"sendmsg, which can carry descriptors",
     [] {
       const msghdr message{};
       return raw(SYS_sendmsg, kJailSocket, address(&message));
     }},
    {"recvmsg, which can take descriptors",
     [] {
       msghdr message{};
       return raw(SYS_recvmsg, kJailSocket, address(&message), MSG_DONTWAIT);
     }},
    {"open of the password file", [] { return raw(SYS_openat, AT_FDCWD, address("/etc/passwd")); }},
    {"open of the key file",
     [] { return raw(SYS_openat, AT_FDCWD, address(targets.key_file.c_str())); }},
    {"open by its old number",
     [] {
#ifdef SYS_open
       return raw(SYS_open, address("/etc/passwd"));
#else
       return raw(SYS_openat, AT_FDCWD, address("/etc/passwd"));
#endif
     }},
    {"openat2",
     [] {
       open_how how{};
       return raw(SYS_openat2, AT_FDCWD, address("/etc/passwd"), address(&how), sizeof how);
     }},
    {"reading what the kernel tells of it",
     [] { return raw(SYS_openat, AT_FDCWD, address("/proc/self/mem"), O_RDWR); }},
    {"ptrace", [] { return raw(SYS_ptrace, PTRACE_ATTACH, targets.worker); }},
    {"process_vm_readv",
     [] {
       char byte = 0;
       const iovec here{&byte, 1}, there{&targets, 1};
       return raw(SYS_process_vm_readv, targets.worker, address(&here), 1, address(&there), 1);
     }},
    {"kill of its worker", [] { return raw(SYS_kill, targets.worker, SIGKILL); }},
    {"kill of everybody", [] { return raw(SYS_kill, -1, SIGKILL); }},
    {"pidfd_open", [] { return raw(SYS_pidfd_open, targets.worker); }},
    {"tgkill", [] { return raw(SYS_tgkill, targets.worker, targets.worker, SIGKILL); }, EPERM},
    {"sigaction", [] { return raw(SYS_rt_sigaction, SIGSEGV, 0, 0, 8); }, EPERM},
    {"executable memory",
     [] { return raw(SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1); }},
    {"shared memory",
     [] { return raw(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1); }},
    {"making its memory executable",
     [] { return raw(SYS_mprotect, address(targets.allowed), 4096, PROT_READ | PROT_EXEC); }},
    {"moving memory to a chosen place",
     [] {
       return raw(SYS_mremap, address(targets.allowed), 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED,
                  address(targets.allowed));
     }},
    {"prctl to become traceable", [] { return raw(SYS_prctl, PR_SET_DUMPABLE, 1); }},
    {"prctl to outlive its parent", [] { return raw(SYS_prctl, PR_SET_PDEATHSIG, 0); }},
    {"setuid", [] { return raw(SYS_setuid, 0); }},
    {"capset", [] { return raw(SYS_capset, 0, 0); }},
    {"unshare", [] { return raw(SYS_unshare, CLONE_NEWUSER); }},
    {"setns", [] { return raw(SYS_setns, kJailSocket); }},
    {"raising its limits",
     [] {
       rlimit all{RLIM_INFINITY, RLIM_INFINITY};
       return raw(SYS_prlimit64, 0, RLIMIT_CPU, address(&all));
     }},
    {"io_uring_setup",
     [] {
       io_uring_params parameters{};
       return raw(SYS_io_uring_setup, 1, address(&parameters));
     }},
    {"bpf", [] { return raw(SYS_bpf, 0, 0, 0); }},
    {"keyctl", [] { return raw(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING); }},
    {"userfaultfd", [] { return raw(SYS_userfaultfd, 0); }},
    {"perf_event_open", [] { return raw(SYS_perf_event_open, 0, 0, -1, -1, 0); }},
    {"memfd_create", [] { return raw(SYS_memfd_create, address("x"), 0); }},
    {"shmget", [] { return raw(SYS_shmget, 1, 4096, 0600 | 01000); }},
    {"mq_open", [] { return raw(SYS_mq_open, address("/x"), O_CREAT); }},
    {"a copy of its descriptor", [] { return raw(SYS_dup, kJailSocket); }},
    {"ioctl of its descriptor", [] { return raw(SYS_ioctl, kJailSocket, 0x541B); }},
    {"read from another descriptor",
     [] {
       char byte = 0;
       return raw(SYS_recvfrom, kJailSocket + 1, address(&byte), 1, MSG_DONTWAIT);
     }},
    {"send to another descriptor",
     [] { return raw(SYS_sendto, STDERR_FILENO, address("x"), 1, 0); }},
    {"write to another descriptor", [] { return raw(SYS_write, STDERR_FILENO, address("x"), 1); },
     EBADF},
    {"write past the protocol", [] { return raw(SYS_write, kJailSocket, address("x"), 1); }, EBADF},
#ifdef __x86_64__
    {"a call by another machine's numbers",
     [] {
       long answer = 0;
       asm volatile("int $0x80" : "=a"(answer) : "a"(20L) : "memory");  // getpid of i386
       return answer;
     }},
    {"a call by the x32 numbers", [] { return raw(SYS_getpid | 0x40000000L); }},
#endif
};

// In a process of its own, because nobody comes back from a sandbox: what the zygote is to scripts.
template <class Body>
int in_a_zygote(Body body) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    auto sandbox = Sandbox::set_up();
    ::_exit(sandbox ? body(*sandbox) : kNoJail);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The wait status of a script process that does this instead of running a script.
int run_in_jail(const Sandbox& sandbox, const Attempt& attempt) {
  auto ends = make_byte_stream();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(60);
    if (!enter_jail(sandbox.jail(ends->second.get(), {}))) ::_exit(kNoJail);
    ::_exit(attempt.make() >= 0 ? kExited : errno);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

class AJailedProcess : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kIsSanitizerBuild) GTEST_SKIP() << "a sanitizer build has no system call filter";
    std::string folder = (std::filesystem::temp_directory_path() / "jail-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    targets.key_file = (folder_ / "key").string();
    std::ofstream{targets.key_file} << "secret";
    targets.worker = ::getpid();
    targets.allowed = static_cast<long*>(
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(AJailedProcess, DiesOfEveryCallItHasNoUseForOrIsTold) {
  for (const Attempt& attempt : kAttempts) {
    const int expected = attempt.error == 0 ? 128 + SIGSYS : attempt.error;
    const int seen = in_a_zygote([&attempt](const Sandbox& sandbox) {
      const int status = run_in_jail(sandbox, attempt);
      return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    });
    EXPECT_EQ(seen, expected) << attempt.name << (seen == kExited ? ": it went through" : "");
  }
}

TEST_F(AJailedProcess, MayStillDoWhatALuaStateNeeds) {
  const Attempt works{"memory, the clock and its socket", [] {
                        std::vector<std::string> held;
                        for (int i = 0; i < 100; ++i) held.emplace_back(100'000, 'x');
                        held.back().resize(50'000'000);
                        held.clear();
                        const SystemClock clock;
                        try {
                          throw std::runtime_error("unwinding");
                        } catch (const std::exception&) {
                        }
                        const bool is_past = clock.mono_now() == MonoTime{};
                        return ::send(kJailSocket, "x", 1, MSG_NOSIGNAL) == 1 && !is_past ? 0L
                                                                                          : -1L;
                      }};
  EXPECT_EQ(in_a_zygote([&works](const Sandbox& sandbox) {
              const int status = run_in_jail(sandbox, works);
              return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
            }),
            kExited);
}

TEST_F(AJailedProcess, ThatAbortsDiesOfACrashAndNotOfAForbiddenCall) {
  const Attempt aborts{"abort", [] {
                         std::abort();
                         return 0L;
                       }};
  EXPECT_EQ(in_a_zygote([&aborts](const Sandbox& sandbox) {
              const int status = run_in_jail(sandbox, aborts);
              return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
            }),
            128 + SIGSEGV);
}

TEST_F(AJailedProcess, HasNoMoreMemoryThanItsScriptMayUse) {
  const Attempt hoards{"hoarding", [] {
                         long answer = 0;
                         for (int i = 0; i < 64 && answer >= 0; ++i)
                           answer = raw(SYS_mmap, 0, 16 * 1024 * 1024, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1);
                         return answer;
                       }};
  EXPECT_EQ(in_a_zygote([&hoards](const Sandbox& sandbox) {
              const int status = run_in_jail(sandbox, hoards);
              return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
            }),
            ENOMEM);
}

// Apart from the product: what this machine permits.
bool machine_permits(int namespaces) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(::unshare(namespaces) == 0 ? 0 : 1);
  int status = -1;
  ::waitpid(pid, &status, 0);
  return status == 0;
}

constexpr int kNamespaces = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNS | CLONE_NEWPID;

// `before` is done in the zygote's stead, first.
std::optional<SandboxReport> proven(void (*before)() = [] {}) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return std::nullopt;
  const Descriptor from{ends[0]};
  {
    const Descriptor to{ends[1]};
    const pid_t pid = ::fork();
    if (pid == 0) {
      before();
      const auto sandbox = Sandbox::set_up();
      const std::string text = sandbox ? to_text(prove_sandbox(*sandbox)) : "";
      ::_exit(::write(to.get(), text.data(), text.size()) > 0 ? 0 : 1);
    }
    ::waitpid(pid, nullptr, 0);
  }
  std::string text(16'384, '\0');
  text.resize(
      static_cast<std::size_t>(std::max<ssize_t>(::read(from.get(), text.data(), text.size()), 0)));
  return parse_sandbox_report(text);
}

// Each layer stands for itself: one that is missing is not made up for by the filter.
TEST_F(AJailedProcess, IsConfinedByEveryLayerThisMachinePermits) {
  const auto report = proven();
  ASSERT_TRUE(report.has_value());
  EXPECT_GE(report->features.size(), 12U);
  for (const char* always :
       {"system calls", "descriptors", "capabilities", "no fork", "memory", "no tracing", "user"})
    EXPECT_NE(report->names_of(true).find(always), std::string::npos) << report->missing();
  if (!machine_permits(kNamespaces | (::geteuid() == 0 ? 0 : CLONE_NEWUSER)))
    GTEST_SKIP() << "this machine permits no namespaces: " << report->missing();
  EXPECT_TRUE(report->is_complete()) << report->missing();
}

constexpr uid_t kSomeService = 12'345;

TEST_F(AJailedProcess, OfAServiceWithoutRootIsConfinedByAUserNamespace) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const auto become_a_service = [] {
    if (::setresgid(kSomeService, kSomeService, kSomeService) != 0 ||
        ::setresuid(kSomeService, kSomeService, kSomeService) != 0)
      ::_exit(1);
    ::prctl(PR_SET_DUMPABLE, 1);  // as after an exec
  };
  const auto report = proven(become_a_service);
  ASSERT_TRUE(report.has_value());
  const pid_t pid = ::fork();
  if (pid == 0) {
    become_a_service();
    ::_exit(machine_permits(kNamespaces | CLONE_NEWUSER) ? 0 : 1);
  }
  int status = -1;
  ::waitpid(pid, &status, 0);
  if (status != 0) GTEST_SKIP() << "users may not make namespaces here: " << report->missing();
  EXPECT_TRUE(report->is_complete()) << report->missing();
}

}  // namespace
}  // namespace coderunner::executor_test
