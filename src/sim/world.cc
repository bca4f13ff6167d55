#include "sim/world.h"

namespace coderunner::sim {
namespace {

// A run that neither drains nor runs out of virtual time by then turns in a circle.
constexpr std::int64_t kMaxSteps = 3'000'000;

}  // namespace

World::World(const Scenario& what_happens, bool keeps_trace)
    : scenario(what_happens), keeps_trace_(keeps_trace), limit_(MonoTime::max()) {}

void World::after(Millis delay, std::function<void()> event) {
  events_.plan(now() + delay, std::move(event));
}

void World::after(Millis delay, const ProcessRef& process, std::function<void()> event) {
  after(delay, [this, process, event = std::move(event)] { run_in(process, event); });
}

void World::run_in(const ProcessRef& process, std::function<void()> event) {
  if (!process->is_alive || is_over()) return;
  if (process->is_busy || process->freezes > 0) {
    process->held.push_back(std::move(event));
    return;
  }
  process->is_busy = true;
  try {
    event();
  } catch (const Killed&) {
  }
  process->is_busy = false;
  release(process);
}

void World::release(const ProcessRef& process) {
  if (process->is_busy || process->freezes > 0) return;
  for (auto& event : std::exchange(process->held, {})) after(Millis{0}, process, std::move(event));
}

void World::sleep(Process& process, Millis duration) {
  const MonoTime until = now() + duration;
  while (process.is_alive && !is_over()) {
    const auto next = events_.next_time();
    if (next && *next <= until) {
      if (!step()) throw Killed{};
    } else if (now() < until) {
      clock.advance_to(until);
    } else if (process.freezes == 0 || !step()) {
      break;
    }
  }
  if (!process.is_alive || is_over()) throw Killed{};
}

void World::kill(Process& process) {
  if (!process.is_alive) return;
  process.is_alive = false;
  process.held.clear();
  trace("{} dies", process.name);
  if (process.on_death) process.on_death();
}

void World::freeze(const ProcessRef& process, Millis duration) {
  if (!process->is_alive || is_thawed_) return;
  ++process->freezes;
  trace("{} is frozen for {}ms", process->name, duration.count());
  after(duration, [this, process] {
    if (--process->freezes > 0 || !process->is_alive) return;
    trace("{} wakes", process->name);
    release(process);
  });
}

void World::run_until(MonoTime limit, const std::function<bool()>& stop) {
  limit_ = limit;
  while (!is_over() && !stop())
    if (!step()) return;
}

bool World::step() {
  const auto next = events_.next_time();
  if (!next || *next > limit_) return false;
  if (++steps_ > kMaxSteps) {
    is_cut_ = true;
    violate("bounded", "the run turns in a circle");
    return false;
  }
  if (*next > now()) clock.advance_to(*next);
  events_.take()();
  return true;
}

void World::violate(std::string_view invariant, std::string what) {
  trace("VIOLATED {}: {}", invariant, what);
  if (!violation_) violation_ = Violation{std::string{invariant}, std::move(what)};
}

void World::add_line(const std::string& text) {
  trace_.push_back(fmt::format("{:>10}ms {}", since_start().count(), text));
}

}  // namespace coderunner::sim
