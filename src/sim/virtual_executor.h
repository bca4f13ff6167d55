// The executor of a simulated run: a listener, up to max_children workers, and (where it has one) a
// master that kills a worker stuck past its wall and has the rows of dead ones ended by the next.
// Answers the drainer's question whether a process is gone truthfully, or not at all.
#pragma once

#include <deque>
#include <memory>

#include "seams/process_probe.h"
#include "sim/virtual_worker.h"

namespace coderunner::sim {

class VirtualExecutor final : public ProcessProbe {
 public:
  explicit VirtualExecutor(Shared& shared) : shared_(shared) {}

  void arrive(Request request);
  Liveness probe(const ExecutorId& executor) const override;

  void kill_worker(int target);
  void freeze_worker(int target, Millis duration);
  void freeze_all(Millis duration);
  // Everything at once; a new one listens after `restart_takes`.
  void kill_all();
  // Its parent died: runs end by themselves, nobody listens until there is a new one.
  void let_go();

 private:
  struct Kept {
    std::unique_ptr<VirtualWorker> worker;
    bool is_in_pool = true;
  };
  VirtualWorker& fork_worker();
  void close_listener();
  void began(VirtualWorker& worker, const RunId& run);
  void died(VirtualWorker& worker);
  void bury(ExecutionId execution, const RunId& run);
  VirtualWorker* busy_worker(int target);

  Shared& shared_;
  std::deque<Kept> workers_;  // the dead are kept: their last frames may not have unwound
  MonoTime listens_from_{};
  MonoTime frozen_until_{};
};

}  // namespace coderunner::sim
