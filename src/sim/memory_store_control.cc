// What operators do to the memory store, and what holds because of it.
#include "sim/memory_store.h"

namespace coderunner {

void MemoryStore::pause_account(const AccountId& account) { paused_.insert(account); }
void MemoryStore::pause_everybody() { paused_.insert(AccountId{}); }
void MemoryStore::resume(const AccountId& account) { paused_.erase(account); }
void MemoryStore::override_account(const AccountId& account, int per_account) {
  per_account_[account] = per_account;
}

Result<Standing> MemoryStore::standing() {
  if (failing_) return *failing_;
  Standing standing{paused_.contains(AccountId{}), paused_, per_account_};
  standing.paused.erase(AccountId{});
  return standing;
}

// ---- GateStore

Result<std::optional<Gate>> MemoryStore::last(const ApiKeyHash& key) {
  if (failing_) return *failing_;
  const auto at = gates_.find(key);
  return at != gates_.end() ? std::optional{at->second} : std::nullopt;
}

Result<Done> MemoryStore::clear(const ApiKeyHash& key) {
  if (failing_) return *failing_;
  gates_.erase(key);
  return Done{};
}

}  // namespace coderunner
