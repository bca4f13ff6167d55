#include "executor/syscall_filter.h"

#include <linux/futex.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>

#include "executor/descriptor.h"
#include "executor/jail.h"

namespace coderunner::executor {
namespace {

struct ContextReleaser {
  void operator()(void* context) const { seccomp_release(context); }
};
using Context = std::unique_ptr<void, ContextReleaser>;

class AllowList {
 public:
  explicit AllowList(scmp_filter_ctx context) : context_(context) {}

  void allow(int call) { add(SCMP_ACT_ALLOW, call, {}); }
  // Where all of `conditions` hold.
  void allow(int call, std::initializer_list<scmp_arg_cmp> conditions) {
    add(SCMP_ACT_ALLOW, call, conditions);
  }
  void refuse(int call, std::uint16_t error) { add(SCMP_ACT_ERRNO(error), call, {}); }
  bool is_complete() const { return is_complete_; }

 private:
  void add(std::uint32_t action, int call, std::initializer_list<scmp_arg_cmp> conditions) {
    if (seccomp_rule_add_array(context_, action, call, static_cast<unsigned>(conditions.size()),
                               conditions.begin()) != 0)
      is_complete_ = false;
  }

  scmp_filter_ctx context_;
  bool is_complete_ = true;
};

scmp_arg_cmp is(unsigned argument, std::uint64_t value) {
  return {argument, SCMP_CMP_EQ, value, 0};
}
scmp_arg_cmp has_none_of(unsigned argument, std::uint64_t bits) {
  return {argument, SCMP_CMP_MASKED_EQ, bits, 0};
}

// Numbers of arguments in the calls' own order.
void list_calls(AllowList& list) {
  list.allow(SCMP_SYS(recvfrom), {is(0, kJailSocket)});
  list.allow(SCMP_SYS(sendto), {is(0, kJailSocket)});

  // malloc: fresh memory of its own, never code and never a file.
  list.allow(SCMP_SYS(brk));
  list.allow(SCMP_SYS(mmap), {has_none_of(2, ~std::uint64_t{PROT_READ | PROT_WRITE}),
                              is(3, MAP_PRIVATE | MAP_ANONYMOUS)});
  list.allow(SCMP_SYS(munmap));
  list.allow(SCMP_SYS(mremap), {is(3, MREMAP_MAYMOVE)});
  list.allow(SCMP_SYS(madvise), {is(2, MADV_DONTNEED)});

  // Clocks, where the kernel does not answer them without a call; pthread_once in libstdc++.
  list.allow(SCMP_SYS(clock_gettime));
  list.allow(SCMP_SYS(gettimeofday));
  list.allow(SCMP_SYS(time));
  list.allow(SCMP_SYS(futex), {is(1, FUTEX_WAIT_PRIVATE)});
  list.allow(SCMP_SYS(futex), {is(1, FUTEX_WAKE_PRIVATE)});

  list.allow(SCMP_SYS(rt_sigreturn));
  list.allow(SCMP_SYS(exit));
  list.allow(SCMP_SYS(exit_group));

  // An abort must show as a crash, not as a forbidden call: it complains to a closed stderr, fails
  // to signal itself and ends by an illegal instruction.
  list.refuse(SCMP_SYS(write), EBADF);
  list.refuse(SCMP_SYS(writev), EBADF);
  list.allow(SCMP_SYS(getpid));
  list.allow(SCMP_SYS(gettid));
  list.allow(SCMP_SYS(rt_sigprocmask));
  list.refuse(SCMP_SYS(tgkill), EPERM);
  list.refuse(SCMP_SYS(rt_sigaction), EPERM);
}

Error not_compiled(const std::string& why) {
  return fail(Failure::unavailable, "the system call filter: " + why);
}

Result<std::vector<sock_filter>> exported(const Context& context) {
  const Descriptor file{::memfd_create("coderunner-filter", MFD_CLOEXEC)};
  if (!file.is_open()) return not_compiled(std::strerror(errno));
  if (const int error = seccomp_export_bpf(context.get(), file.get()); error != 0)
    return not_compiled(std::strerror(-error));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return not_compiled(std::strerror(errno));
  const auto bytes = static_cast<std::size_t>(status.st_size);
  std::vector<sock_filter> program(bytes / sizeof(sock_filter));
  if (program.empty() || ::pread(file.get(), program.data(), bytes, 0) != status.st_size)
    return not_compiled("it cannot be read back");
  return program;
}

}  // namespace

Result<SyscallFilter> SyscallFilter::compile() {
  const Context context{seccomp_init(SCMP_ACT_KILL_PROCESS)};
  if (!context) return not_compiled("no memory");
  // Calls by another architecture's numbers too.
  bool is_complete =
      seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0;
  AllowList list{context.get()};
  list_calls(list);
  is_complete = is_complete && list.is_complete();
  if (!is_complete) return not_compiled("a rule was refused");
  auto program = exported(context);
  if (!program) return program.error();
  return SyscallFilter{std::move(*program)};
}

bool SyscallFilter::load() const {
  // The kernel copies the program; its interface just knows no const.
  const sock_fprog program{static_cast<unsigned short>(program_.size()),
                           const_cast<sock_filter*>(program_.data())};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace coderunner::executor
