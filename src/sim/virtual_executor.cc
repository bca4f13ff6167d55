#include "sim/virtual_executor.h"

#include <utility>
#include <vector>

namespace coderunner::sim {
namespace {

using namespace std::chrono_literals;

constexpr Millis kBurialTakes{100};  // the master hears of a death and hands the row to the next

}  // namespace

void VirtualExecutor::arrive(Request request) {
  World& world = shared_.world;
  if (world.now() < frozen_until_)  // its backlog takes the connection, nobody reads it
    return world.after(std::chrono::ceil<Millis>(frozen_until_ - world.now()),
                       [this, request = std::move(request)] { arrive(request); });
  if (world.now() < listens_from_) return request.reply(Reply::refused);
  int alive = 0;
  for (Kept& kept : workers_) {
    if (!kept.is_in_pool || !kept.worker->process()->is_alive) continue;
    ++alive;
    if (kept.worker->is_idle() && kept.worker->process()->freezes == 0)
      return kept.worker->take(std::move(request));
  }
  if (alive < world.scenario.settings.max_children) return fork_worker().take(std::move(request));
  world.count("no worker free");
  request.reply(Reply::unavailable);
}

Liveness VirtualExecutor::probe(const ExecutorId& executor) const {
  if (!shared_.world.scenario.settings.can_probe) return Liveness::alive;
  for (const Kept& kept : workers_)
    if (kept.worker->id() == executor)
      return kept.worker->process()->is_alive ? Liveness::alive : Liveness::gone;
  return Liveness::gone;
}

VirtualWorker& VirtualExecutor::fork_worker() {
  const int number = static_cast<int>(workers_.size()) + 1;
  workers_.push_back(
      {std::make_unique<VirtualWorker>(
           shared_, number,
           VirtualWorker::Told{[](VirtualWorker&) {}, [this](VirtualWorker& w) { died(w); },
                               [this](VirtualWorker& w, const RunId& run) { began(w, run); }}),
       true});
  return *workers_.back().worker;
}

void VirtualExecutor::began(VirtualWorker& worker, const RunId& run) {
  const Settings& is = shared_.world.scenario.settings;
  if (!is.has_master) return;
  shared_.world.after(is.wall + limits::kMasterKillAfterWall, [this, &worker, run] {
    if (!worker.is_stuck_in(run)) return;
    shared_.world.count("killed by its master");
    shared_.world.kill(*worker.process());
  });
}

void VirtualExecutor::died(VirtualWorker& worker) {
  const auto execution = worker.noted_execution();
  const bool is_listening = shared_.world.now() >= listens_from_;
  if (!execution || !shared_.world.scenario.settings.buries || !is_listening) return;
  shared_.world.after(kBurialTakes,
                      [this, execution, run = worker.run()] { bury(*execution, run); });
}

void VirtualExecutor::bury(ExecutionId execution, const RunId& run) {
  if (shared_.world.now() < listens_from_) return;  // the scoreboard died with its master
  fork_worker().bury(execution, run);
}

VirtualWorker* VirtualExecutor::busy_worker(int target) {
  std::vector<VirtualWorker*> busy;
  for (Kept& kept : workers_)
    if (kept.worker->process()->is_alive && !kept.worker->is_idle())
      busy.push_back(kept.worker.get());
  return busy.empty() ? nullptr : busy[static_cast<std::size_t>(target) % busy.size()];
}

void VirtualExecutor::kill_worker(int target) {
  VirtualWorker* worker = busy_worker(target);
  if (worker == nullptr) return;
  shared_.world.count("worker killed while busy");
  shared_.world.kill(*worker->process());
}

void VirtualExecutor::freeze_worker(int target, Millis duration) {
  VirtualWorker* worker = busy_worker(target);
  if (worker == nullptr) return;
  shared_.world.count("worker frozen while busy");
  shared_.world.freeze(worker->process(), duration);
}

void VirtualExecutor::freeze_all(Millis duration) {
  frozen_until_ = std::max(frozen_until_, shared_.world.now() + duration);
  for (Kept& kept : workers_) shared_.world.freeze(kept.worker->process(), duration);
}

void VirtualExecutor::close_listener() {
  listens_from_ = shared_.world.now() + shared_.world.scenario.settings.restart_takes;
  frozen_until_ = MonoTime{};
}

void VirtualExecutor::kill_all() {
  close_listener();
  for (Kept& kept : workers_) shared_.world.kill(*kept.worker->process());
}

void VirtualExecutor::let_go() {
  close_listener();
  for (Kept& kept : workers_) kept.is_in_pool = false;
}

}  // namespace coderunner::sim
