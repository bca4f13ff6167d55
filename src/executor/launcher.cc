#include "executor/launcher.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "domain/limits.h"
#include "executor/channel.h"
#include "executor/spawn.h"

namespace coderunner::executor {
namespace {

Result<Descriptor> settings_file(const std::string& text) {
  Descriptor memfd{::memfd_create("coderunner-settings", MFD_CLOEXEC)};
  if (!memfd.is_open() ||
      ::pwrite(memfd.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return fail(Failure::unavailable, std::string{"settings memfd: "} + std::strerror(errno));
  return memfd;
}

// By number: the header of glibc 2.36 declares them without C linkage.
int pidfd_of(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

void send_kill(const Descriptor& pidfd) {
  ::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
}

std::string describe(const siginfo_t& exit) {
  return exit.si_code == CLD_EXITED ? "exited with status " + std::to_string(exit.si_status)
                                    : "killed by signal " + std::to_string(exit.si_status);
}

}  // namespace

Millis restart_delay(int starts) {
  Millis delay = limits::kExecutorRestartMin;
  for (int start = 1; start < starts && delay < limits::kExecutorRestartMax; ++start) delay *= 2;
  return std::min(delay, limits::kExecutorRestartMax);
}

Launcher::Launcher(LauncherOptions options, const Clock& clock, Events& events)
    : options_(std::move(options)), clock_(clock), events_(events) {}

Launcher::~Launcher() = default;

Result<Done> Launcher::start() {
  start_again_at_ = clock_.mono_now() + restart_delay(++starts_in_a_row_);  // unless all goes well
  if (!settings_.is_open()) {
    auto made = settings_file(options_.settings);
    if (!made) return made.error();
    settings_ = std::move(*made);
  }
  auto scoreboard = Scoreboard::create(options_.max_children);
  if (!scoreboard) return scoreboard.error();
  auto channel = make_channel();
  if (!channel) return channel.error();

  const std::array<int, 4> passed{channel->second.get(), settings_.get(), scoreboard->descriptor(),
                                  options_.listener};
  const auto pid = spawn_role(Role::master, passed);
  if (!pid) return pid.error();
  // Crash window serve-lost: the master reads EOF on its parent's channel, takes nothing new, lets
  // its runs end and goes.
  // Ours to reap and nobody else's: the pid can not be another process's yet.
  master_ = Descriptor{pidfd_of(*pid)};
  if (!master_.is_open()) {
    ::kill(*pid, SIGKILL);
    ::waitpid(*pid, nullptr, 0);
    return fail(Failure::unavailable, std::string{"pidfd_open: "} + std::strerror(errno));
  }
  {
    const std::lock_guard lock{mutex_};
    channel_ = std::move(channel->first);
    scoreboard_ = std::move(*scoreboard);
  }
  started_at_ = clock_.mono_now();
  start_again_at_.reset();
  events_.record({Level::info, "executor_started", std::nullopt, {{"pid", std::to_string(*pid)}}});
  return Done{};
}

bool Launcher::reap(int wait_flags) {
  siginfo_t exit{};
  if (::waitid(P_PIDFD, static_cast<id_t>(master_.get()), &exit, WEXITED | wait_flags) != 0 ||
      exit.si_pid == 0)
    return false;
  events_.record({Level::warn, "executor_ended", std::nullopt, {{"how", describe(exit)}}});
  const std::lock_guard lock{mutex_};
  reached_before_ += scoreboard_->max_children_reached();
  scoreboard_.reset();
  master_.close();
  channel_.close();
  return true;
}

std::optional<MonoTime> Launcher::tend() {
  if (master_.is_open() && reap(WNOHANG)) {
    const MonoTime now = clock_.mono_now();
    if (now - started_at_ >= limits::kExecutorSettled) starts_in_a_row_ = 0;
    start_again_at_ = now + restart_delay(starts_in_a_row_);
  }
  if (!master_.is_open() && start_again_at_ && clock_.mono_now() >= *start_again_at_) {
    const auto started = start();
    if (!started)
      events_.record({Level::error,
                      "executor_not_started",
                      std::nullopt,
                      {{"error", started.error().message}}});
  }
  return start_again_at_;
}

void Launcher::stop(Millis at_most) {
  start_again_at_.reset();
  if (!master_.is_open()) return;
  send_message(channel_.get(), kStop);
  const MonoTime give_up = clock_.mono_now() + at_most;
  pollfd exit{master_.get(), POLLIN, 0};
  for (MonoTime now = clock_.mono_now(); now < give_up; now = clock_.mono_now()) {
    const auto left = std::chrono::ceil<Millis>(give_up - now);
    if (::poll(&exit, 1, static_cast<int>(left.count())) > 0) break;
  }
  if (reap(WNOHANG)) return;
  // Its workers lose the master and, told to stop or not, finish their rows by themselves.
  send_kill(master_);
  reap(0);
}

Result<Descriptor> Launcher::open_test_run() {
  auto ends = make_byte_stream();
  if (!ends) return ends.error();
  const std::array<int, 1> passed{ends->second.get()};
  const std::lock_guard lock{mutex_};
  if (!channel_.is_open() || !send_message(channel_.get(), kTestRun, {}, passed))
    return fail(Failure::unavailable, "the executor is not running");
  return std::move(ends->first);
}

PoolFigures Launcher::figures() const {
  const std::lock_guard lock{mutex_};
  PoolFigures figures{0, 0, options_.max_children, reached_before_};
  if (scoreboard_) {
    figures.children = scoreboard_->children();
    figures.running = scoreboard_->running();
    figures.max_children_reached += scoreboard_->max_children_reached();
  }
  return figures;
}

}  // namespace coderunner::executor
