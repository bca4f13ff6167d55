// The real services of a simulated run, each a process of its own: killed with all its memory, and
// started anew some time later.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "services/admission.h"
#include "services/drainer.h"
#include "services/reaper.h"
#include "sim/stand_ins.h"
#include "sim/virtual_transport.h"

namespace coderunner::sim {

// The loop owner around Drainer::tick, as app's: it runs when the tick wants to, or when woken.
class DrainerRole {
 public:
  DrainerRole(Shared& shared, VirtualExecutor& executor) : shared_(shared), executor_(executor) {}
  void start();
  void wake();
  const ProcessRef& process() const { return lives_.back()->process; }

 private:
  struct Life {
    Life(DrainerRole& role, int number);
    ProcessRef process;
    FaultySeams seams;
    MarkedEntropy entropy;
    ReadableSecrets secrets;
    VirtualTransport transport;
    Drainer drainer;
    std::int64_t plan = 0;  // only the latest planned tick happens
    bool is_woken = false;
  };
  void plan_tick(Life& life, Millis delay);
  void tick(Life& life);

  Shared& shared_;
  VirtualExecutor& executor_;
  std::deque<std::unique_ptr<Life>> lives_;  // the dead are kept: their frames may not have unwound
  std::int64_t ticks_ = 0;
};

class AdmissionRole {
 public:
  AdmissionRole(Shared& shared, std::function<void()> wake_drainer)
      : shared_(shared), wake_drainer_(std::move(wake_drainer)) {}
  void start();
  // A client that finds nobody there is not answered.
  void submit(const Arrival& arrival, const std::string& identifier);
  const ProcessRef& process() const { return lives_.back()->process; }

 private:
  struct Life {
    Life(AdmissionRole& role, int number);
    ProcessRef process;
    FaultySeams seams;
    MarkedEntropy entropy;
    ReadableSecrets secrets;
    MarkCheck check;
    Admission admission;
  };

  Shared& shared_;
  std::function<void()> wake_drainer_;
  std::deque<std::unique_ptr<Life>> lives_;
};

class ReaperRole {
 public:
  ReaperRole(Shared& shared, const ProcessProbe& probe) : shared_(shared), probe_(probe) {}
  void start();
  const ProcessRef& process() const { return lives_.back()->process; }

 private:
  struct Life {
    Life(ReaperRole& role, int number);
    ProcessRef process;
    FaultySeams seams;
    Reaper reaper;
  };
  void plan_tick(Life& life, Millis delay);

  Shared& shared_;
  const ProcessProbe& probe_;
  std::deque<std::unique_ptr<Life>> lives_;
};

}  // namespace coderunner::sim
