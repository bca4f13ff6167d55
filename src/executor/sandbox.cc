#include "executor/sandbox.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <string>

#include "executor/channel.h"
#include "executor/frame.h"
#include "executor/sandbox_profile.h"

namespace coderunner::executor {
namespace {

constexpr const char* kInSanitizerBuild = "not in a sanitizer build";

// "VmData:" of /proc/self/status, as RLIMIT_DATA counts it.
std::size_t private_memory() {
  constexpr std::size_t kKibi = 1024;
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;) {
    std::size_t kibibytes = 0;
    if (word == "VmData:" && status >> kibibytes) return kibibytes * kKibi;
  }
  return 0;
}

// What forking scripts takes: to make them somebody else, and to kill them then. Nothing where this
// process is not root (in its user namespace it would have every capability).
bool keep_few_capabilities() {
  __user_cap_data_struct kept[_LINUX_CAPABILITY_U32S_3] = {};
  if (::geteuid() == 0)
    kept[0].effective = kept[0].permitted =
        CAP_TO_MASK(CAP_KILL) | CAP_TO_MASK(CAP_SETUID) | CAP_TO_MASK(CAP_SETGID);
  for (int capability = 0; ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; ++capability) {
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  return ::syscall(SYS_capset, &header, kept) == 0;
}

Error not_set_up(const std::string& step) {
  return fail(Failure::unavailable, step + ": " + std::strerror(errno));
}

[[noreturn]] void be_init(const Jail& jail) {
  ::prctl(PR_SET_NAME, "cr-script-init");
  // It runs no script: where the jail can not be entered it waits for its parent's end outside.
  (void)enter_jail(jail);
  read_frame(kJailSocket);
  ::_exit(0);
}

}  // namespace

Result<Sandbox> Sandbox::set_up() {
  Sandbox sandbox;
  sandbox.memory_before_ = private_memory();
  if (kIsSanitizerBuild) {
    const WhyNot why{kInSanitizerBuild};
    sandbox.namespaces_ = {why, why, why, why, why, why};
  } else {
    auto filter = SyscallFilter::compile();
    if (!filter) return filter.error();
    sandbox.filter_ = std::move(*filter);
    sandbox.namespaces_ = enter_namespaces();
  }
  if (!sandbox.namespaces_.processes)
    if (auto started = sandbox.start_init(); !started) return started.error();
  // Its leak check at exit traces the process.
  if (kIsSanitizerBuild) return sandbox;
  if (!keep_few_capabilities()) return not_set_up("dropping capabilities");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return not_set_up("no new privileges");
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) return not_set_up("closing itself to tracers");
  return sandbox;
}

Result<Done> Sandbox::start_init() {
  auto ends = make_byte_stream();
  if (!ends) return ends.error();
  const Jail its = jail(ends->second.get(), {});
  init_ = ::fork();
  if (init_ == 0) be_init(its);
  if (init_ < 0) return not_set_up("starting the pid namespace's init");
  init_lives_ = std::move(ends->first);
  return Done{};
}

Sandbox::~Sandbox() {
  if (init_ <= 0 || !init_lives_.is_open()) return;  // moved from
  ::kill(init_, SIGKILL);
  ::waitpid(init_, nullptr, 0);
}

Jail Sandbox::jail(int socket, const ScriptLimits& limits) const {
  Jail jail;
  jail.socket = socket;
  jail.parent = namespaces_.processes ? ::getpid() : 0;
  jail.limits = limits;
  jail.memory_before = memory_before_;
  jail.filter = filter_ ? &*filter_ : nullptr;
  return jail;
}

}  // namespace coderunner::executor
