// One simulated run: the real admission, drainer and reaper over a memory store that fails, with a
// virtual executor, judged at every write. The same scenario gives the same run, byte for byte.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/memory_store.h"
#include "sim/scenario.h"
#include "sim/world.h"

namespace coderunner::sim {

// Stands between the faults and the true store: how a test plants a defect for the judge to find.
struct Defects {
  std::function<std::unique_ptr<Ledger>(MemoryStore&)> ledger;
  std::function<std::unique_ptr<DispatchStore>(MemoryStore&)> dispatch;
  std::function<std::unique_ptr<AdmissionStore>(MemoryStore&)> admission;
};

struct SimulationOptions {
  bool keeps_trace = false;
  Defects defects = {};
};

struct SimulationResult {
  std::optional<Violation> violation;
  std::vector<std::string> trace;
  std::map<std::string_view, std::int64_t> counts;  // of faults that happened, and of ends
  std::array<int, kRoles> calls{};                  // of seams, by role
  Millis lasted{0};                                 // virtual
};

SimulationResult simulate(const Scenario& scenario, const SimulationOptions& options = {});

// The same scenario with every part taken out that the violation does not need.
Scenario shrink(const Scenario& failing, const SimulationOptions& options = {});

// Names of every fault and end that a few hundred seeds must have met.
std::vector<std::string_view> expected_counts();

}  // namespace coderunner::sim
