#include "executor/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "executor/descriptor.h"

namespace coderunner::executor {
namespace {

constexpr const char* kThisProgram = "/proc/self/exe";  // the running image, also after an upgrade
constexpr int kFirstPassed = 3;
constexpr int kOutOfTheWay = 64;  // above every number a role expects
constexpr int kGroupSignals[] = {SIGTERM, SIGINT, SIGHUP};

sigset_t group_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kGroupSignals) sigaddset(&set, signal);
  return set;
}

class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  int prepare(std::span<const int> passed) {
    int number = kFirstPassed;
    for (const int fd : passed) {
      const int error = posix_spawn_file_actions_adddup2(&actions_, fd, number++);
      if (error != 0) return error;
    }
    const sigset_t blocked = group_signals();
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &blocked);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    return posix_spawn_file_actions_addclosefrom_np(&actions_, number);
  }

  int run(Role role, int& pid) {
    std::string program = "coderunner";
    std::string argument{to_argument(role)};
    char* const argv[] = {program.data(), argument.data(), nullptr};
    char* const nothing[] = {nullptr};
    return posix_spawn(&pid, kThisProgram, &actions_, &attributes_, argv,
                       role == Role::zygote ? nothing : environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

Result<int> spawn_role(Role role, std::span<const int> descriptors) {
  // The numbers may overlap with those wanted in the child: copies out of the way first.
  std::vector<Descriptor> copies;
  std::vector<int> passed;
  for (const int fd : descriptors) {
    copies.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, kOutOfTheWay));
    if (!copies.back().is_open())
      return fail(Failure::unavailable, std::string{"no descriptor left: "} + std::strerror(errno));
    passed.push_back(copies.back().get());
  }
  SpawnPlan plan;
  int pid = 0;
  int error = plan.prepare(passed);
  if (error == 0) error = plan.run(role, pid);
  if (error != 0)
    return fail(Failure::unavailable,
                "cannot start " + std::string{to_argument(role)} + ": " + std::strerror(error));
  return pid;
}

void ignore_group_signals(const char* process_name) {
  ::prctl(PR_SET_NAME, process_name);
  for (const int signal : kGroupSignals) std::signal(signal, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

Descriptor child_exits() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return Descriptor{::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)};
}

}  // namespace coderunner::executor
