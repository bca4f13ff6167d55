#include "executor/pool.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "domain/limits.h"
#include "executor/spawn.h"

namespace coderunner::executor {
namespace {

// What a stage may last. Idle is no work; finishing lasts as long as the store is away, but each
// try at it does not: a worker that lies still in one may hold the store's lock.
std::optional<Millis> longest(Stage stage, const PoolSettings& settings) {
  switch (stage) {
    case Stage::idle: return std::nullopt;
    case Stage::finishing: return settings.finish_attempt;
    case Stage::reading:
    case Stage::spawning:
    case Stage::beginning:
    case Stage::running: break;
  }
  return settings.wall + limits::kMasterKillAfterWall;
}

bool is_free(const PoolWorker& worker) {
  return !worker.is_busy && !worker.is_leaving && worker.channel.is_open();
}

std::string cause_of_death(const PoolWorker& worker, Stage stage, int wait_status) {
  if (worker.was_killed && stage == Stage::finishing)
    return "its worker lay still while it wrote the outcome and was killed";
  if (worker.was_killed) return "wall: its worker outstayed the wall and was killed";
  if (WIFSIGNALED(wait_status))
    return fmt::format("its worker was killed by signal {}", WTERMSIG(wait_status));
  return fmt::format("its worker exited with status {}", WEXITSTATUS(wait_status));
}

}  // namespace

bool Pool::hand_over(const Descriptor& connection) {
  for (;;) {
    PoolWorker* worker = idle_or_new();
    if (worker == nullptr) {
      if (free_slot() < 0) {
        parts_.board.count_max_children_reached();
        parts_.events.record({Level::warn, parts_.full, std::nullopt, {}});
      }
      return false;
    }
    const std::array<int, 1> passed{connection.get()};
    if (send_message(worker->channel.get(), kConnection, {}, passed)) {
      worker->is_busy = true;
      return true;
    }
    worker->channel.close();  // dead, and about to be reaped: nothing was handed to it
  }
}

PoolWorker* Pool::idle_or_new() {
  PoolWorker* freshest = nullptr;  // so that those beyond what is needed grow old
  for (PoolWorker& worker : workers_)
    if (is_free(worker) && (freshest == nullptr || worker.idle_since > freshest->idle_since))
      freshest = &worker;
  return freshest != nullptr ? freshest : start_worker();
}

int Pool::free_slot() const {
  for (int slot = 0; slot < parts_.board.slots(); ++slot)
    if (parts_.board.read(slot).pid == 0) return slot;
  return -1;
}

PoolWorker* Pool::start_worker() {
  const int slot = free_slot();
  if (slot < 0) return nullptr;
  const auto tell = [this](const std::string& error) {
    parts_.events.record({Level::error, "worker_not_started", std::nullopt, {{"error", error}}});
    return nullptr;
  };
  auto channel = make_channel();
  if (!channel) return tell(channel.error().message);
  const std::array<int, 3> passed{channel->second.get(), parts_.settings_descriptor,
                                  parts_.board.descriptor()};
  const auto pid = spawn_role(parts_.role, passed);
  if (!pid) return tell(pid.error().message);

  PoolWorker worker;
  worker.pid = *pid;
  worker.slot = slot;
  worker.channel = std::move(channel->first);
  worker.idle_since = parts_.clock.mono_now();
  parts_.board.enter(slot, Stage::idle, worker.idle_since);
  parts_.board.assign(slot, *pid);
  send_message(worker.channel.get(), kHello, std::to_string(slot));
  return &workers_.emplace_back(std::move(worker));
}

void Pool::hear(PoolWorker& worker, const Message& message) {
  if (message.verb != kIdle && message.verb != kAbandoned) return;
  if (message.verb == kAbandoned) worker.abandoning.reset();
  worker.is_busy = false;
  worker.idle_since = parts_.clock.mono_now();
  if (is_ending_) ask_to_leave(worker, kExit);
}

bool Pool::bury(pid_t pid, int wait_status) {
  const auto dead = std::find_if(workers_.begin(), workers_.end(),
                                 [pid](const PoolWorker& worker) { return worker.pid == pid; });
  if (dead == workers_.end()) return false;
  const SlotView slot = parts_.board.read(dead->slot);
  const std::string cause = cause_of_death(*dead, slot.stage, wait_status);
  const bool was_expected = dead->is_leaving && WIFEXITED(wait_status);
  if (!was_expected)
    parts_.events.record({Level::error, "worker_died", slot.execution, {{"how", cause}}});
  // Without an execution its begin had not come to the commit: the row is still queued. Crash
  // window buried-unfinished: this list is the master's memory; where it is lost, whoever proves
  // the worker dead ends the row.
  if (slot.run && slot.execution)
    abandoned_.push_back(fmt::format("{} {} {}", slot.execution->value, slot.run->value, cause));
  if (dead->abandoning) {
    abandoned_.push_back(*dead->abandoning);
    abandon_again_at_ = parts_.clock.mono_now() + limits::kStoreRetryMax;
  }
  parts_.board.clear(dead->slot);
  workers_.erase(dead);
  return true;
}

std::optional<MonoTime> Pool::tend(MonoTime now) {
  kill_overdue(now);
  trim_idle(now);
  finish_abandoned(now);
  constexpr Millis kRound{500};  // of looking at stages, while there is something to look at
  const bool has_work =
      !abandoned_.empty() || std::any_of(workers_.begin(), workers_.end(),
                                         [](const PoolWorker& worker) { return worker.is_busy; });
  if (has_work) return now + kRound;
  if (std::ssize(workers_) > parts_.kept_idle) return now + limits::kWorkerIdle / 2;
  return std::nullopt;
}

void Pool::kill_overdue(MonoTime now) {
  for (PoolWorker& worker : workers_) {
    if (!worker.is_busy || worker.was_killed) continue;
    const SlotView slot = parts_.board.read(worker.slot);
    const auto most = longest(slot.stage, parts_.settings);
    if (!most || now - slot.since < *most) continue;
    worker.was_killed = true;
    ::kill(worker.pid, SIGKILL);  // its script dies by the control socket's EOF
  }
}

void Pool::trim_idle(MonoTime now) {
  auto idle = std::count_if(workers_.begin(), workers_.end(), is_free);
  for (PoolWorker& worker : workers_) {
    if (idle <= parts_.kept_idle) return;
    if (!is_free(worker) || now - worker.idle_since < limits::kWorkerIdle) continue;
    ask_to_leave(worker, kExit);
    --idle;
  }
}

void Pool::finish_abandoned(MonoTime now) {
  while (!abandoned_.empty() && now >= abandon_again_at_) {
    PoolWorker* worker = idle_or_new();
    if (worker == nullptr || !send_message(worker->channel.get(), kAbandon, abandoned_.front())) {
      abandon_again_at_ = now + limits::kStoreRetryMin;
      return;
    }
    worker->is_busy = true;
    worker->abandoning = std::move(abandoned_.front());
    abandoned_.pop_front();
  }
}

void Pool::ask_to_leave(PoolWorker& worker, std::string_view verb) {
  send_message(worker.channel.get(), verb);
  worker.is_leaving = true;
}

void Pool::let_all_go() {
  is_ending_ = true;
  for (PoolWorker& worker : workers_)
    if (is_free(worker)) ask_to_leave(worker, kExit);
}

void Pool::stop_all() {
  let_all_go();
  for (PoolWorker& worker : workers_)
    if (worker.is_busy) ask_to_leave(worker, kStop);
}

void Pool::kill_all() {
  for (PoolWorker& worker : workers_) ::kill(worker.pid, SIGKILL);
}

}  // namespace coderunner::executor
