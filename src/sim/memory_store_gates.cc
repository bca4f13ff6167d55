// The gates of the memory store, and what is remembered of them.
#include <algorithm>

#include "domain/limits.h"
#include "sim/memory_store.h"

namespace coderunner {

Result<Gate> MemoryStore::close(const Gate& seen, UtcTime now) {
  if (failing_) return *failing_;
  const auto at = gates_.find(seen.key);
  const Gate standing = extend(
      at == gates_.end() ? std::nullopt : std::optional{record_of(at->second)}, seen, now, gate_);
  gates_[seen.key] = standing;
  return standing;
}

Result<std::vector<GateRecord>> MemoryStore::gate_records(UtcTime now) {
  if (failing_) return *failing_;
  std::vector<GateRecord> records;
  for (const auto& [key, gate] : gates_)
    if (gate.until > now - limits::kGateRemembered) records.push_back(record_of(gate));
  std::ranges::stable_sort(records, {}, [](const GateRecord& one) { return one.gate.until; });
  return records;
}

GateRecord MemoryStore::record_of(const Gate& gate) const {
  const auto run = ended_runs_.lower_bound({gate.key, gate.until, ExecutionId{}});
  return {gate, run != ended_runs_.end() && std::get<ApiKeyHash>(*run) == gate.key};
}

Result<std::vector<Gate>> MemoryStore::closed(UtcTime now) {
  if (failing_) return *failing_;
  std::vector<Gate> gates;
  for (const auto& [key, gate] : gates_)
    if (is_closed(gate.until, now, gate_)) gates.push_back(gate);
  std::ranges::stable_sort(gates, {}, &Gate::until);
  return gates;
}

Result<std::optional<Gate>> MemoryStore::closed(const ApiKeyHash& key, UtcTime now) {
  if (failing_) return *failing_;
  return is_gated(key, now) ? std::optional{gates_.at(key)} : std::nullopt;
}

bool MemoryStore::is_gated(const std::optional<ApiKeyHash>& key, UtcTime now) const {
  const auto at = key ? gates_.find(*key) : gates_.end();
  return at != gates_.end() && is_closed(at->second.until, now, gate_);
}

}  // namespace coderunner
