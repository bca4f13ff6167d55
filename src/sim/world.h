// What every part of a simulated run lives in: time, the queue of events, processes that can be
// killed or frozen at any call, the trace, the counted faults, and the first violation. One thread.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/event_queue.h"
#include "sim/scenario.h"
#include "sim/virtual_clock.h"

namespace coderunner::sim {

// Unwinds a process that was killed inside one of its calls. Thrown by sleep() and by the seams;
// only run_in() catches it.
struct Killed {};

struct Violation {
  std::string invariant;
  std::string what;
};

struct Process {
  Role role = Role::drainer;
  std::string name;
  bool is_alive = true;
  bool is_busy = false;  // inside a call that lets the others go on
  int freezes = 0;
  std::vector<std::function<void()>> held;  // waits until it is neither busy nor frozen
  std::function<void()> on_death;
};
using ProcessRef = std::shared_ptr<Process>;

class World {
 public:
  World(const Scenario& what_happens, bool keeps_trace);

  MonoTime now() const { return clock.mono_now(); }
  Millis since_start() const { return std::chrono::floor<Millis>(now() - VirtualClock::kStart); }

  void after(Millis delay, std::function<void()> event);
  // In `process`, or never where it has died by then.
  void after(Millis delay, const ProcessRef& process, std::function<void()> event);
  // Now, or as soon as it is neither busy nor frozen.
  void run_in(const ProcessRef& process, std::function<void()> event);
  // From inside a call of `process`: the others go on for so long, and for as long as it is frozen.
  void sleep(Process& process, Millis duration);
  void kill(Process& process);
  void freeze(const ProcessRef& process, Millis duration);
  void thaw_all() { is_thawed_ = true; }  // no more freezing: the faults have ended

  // Runs events until `stop` says so, the time `limit` or a violation.
  void run_until(MonoTime limit, const std::function<bool()>& stop);
  bool is_over() const { return violation_.has_value() || is_cut_; }

  void violate(std::string_view invariant, std::string what);
  const std::optional<Violation>& violation() const { return violation_; }

  void count(std::string_view what) { ++counts_[what]; }
  const std::map<std::string_view, std::int64_t>& counts() const { return counts_; }

  bool keeps_trace() const { return keeps_trace_; }
  template <class... Args>
  void trace(fmt::format_string<Args...> format, Args&&... args) {
    if (keeps_trace_) add_line(fmt::format(format, std::forward<Args>(args)...));
  }
  std::vector<std::string> take_trace() { return std::move(trace_); }

  const Scenario& scenario;
  VirtualClock clock;

 private:
  bool step();
  void release(const ProcessRef& process);
  void add_line(const std::string& text);

  EventQueue events_;
  bool keeps_trace_;
  bool is_thawed_ = false;
  bool is_cut_ = false;  // a run that does not end by itself
  MonoTime limit_;
  std::int64_t steps_ = 0;
  std::optional<Violation> violation_;
  std::map<std::string_view, std::int64_t> counts_;
  std::vector<std::string> trace_;
};

}  // namespace coderunner::sim
