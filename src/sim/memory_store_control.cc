// What operators do to the memory store, and what holds because of it.
#include "sim/memory_store.h"

namespace coderunner {

void MemoryStore::pause_account(const AccountId& account) { paused_.insert(account); }
void MemoryStore::pause_everybody() { paused_.insert(AccountId{}); }
void MemoryStore::resume(const AccountId& account) { paused_.erase(account); }

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

// ---- ControlStore

Result<Done> MemoryStore::pause(const Act& act, const std::optional<NamedAccount>& whom) {
  if (failing_) return *failing_;
  paused_.insert(whom ? whom->id : AccountId{});
  audit_.push_back(audit_pause(act, whom));
  return Done{};
}

Result<Done> MemoryStore::resume(const Act& act, const std::optional<NamedAccount>& whom) {
  if (failing_) return *failing_;
  paused_.erase(whom ? whom->id : AccountId{});
  audit_.push_back(audit_resume(act, whom));
  return Done{};
}

bool MemoryStore::cancel_row(const Act& act, StoredExecution* stored) {
  if (stored == nullptr || stored->row.status != Status::queued) return false;
  stored->row.status = Status::error;
  stored->row.error_code = number(ErrorCode::cancelled);
  stored->row.finished_at = act.at;
  ended(*stored);
  return true;
}

Result<CancelAnswer> MemoryStore::cancel(const Act& act, ExecutionId execution) {
  if (failing_) return *failing_;
  StoredExecution* stored = find(execution);
  if (stored == nullptr) return CancelAnswer::unknown;
  if (!cancel_row(act, stored)) return CancelAnswer::not_queued;
  audit_.push_back(audit_cancel(act, execution));
  return CancelAnswer::cancelled;
}

Result<int> MemoryStore::cancel_queued(const Act& act, const NamedAccount& account) {
  if (failing_) return *failing_;
  int cancelled = 0;
  for (auto at = unfinished_.begin(); at != unfinished_.end();) {
    StoredExecution* stored = (at++)->second;
    if (stored->has_account && stored->row.account_id == account.id)
      cancelled += cancel_row(act, stored) ? 1 : 0;
  }
  audit_.push_back(audit_cancel_queued(act, account, cancelled));
  return cancelled;
}

Result<Done> MemoryStore::set_per_account(const Act& act, const NamedAccount& account,
                                          std::optional<int> cap) {
  if (failing_) return *failing_;
  per_account_.erase(account.id);
  if (cap) per_account_[account.id] = *cap;
  audit_.push_back(audit_per_account(act, account, cap));
  return Done{};
}

Result<AccountState> MemoryStore::account(const AccountId& account) {
  if (failing_) return *failing_;
  AccountState state;
  for (const auto& [id, stored] : unfinished_) {
    if (!stored->has_account || stored->row.account_id != account) continue;
    if (stored->row.status == Status::queued) ++state.queued;
    if (stored->row.status == Status::running) ++state.in_flight;
  }
  state.paused = paused_.contains(AccountId{}) || paused_.contains(account);
  if (const auto cap = per_account_.find(account); cap != per_account_.end())
    state.per_account = cap->second;
  return state;
}

Result<Done> MemoryStore::record(const AuditEntry& entry) {
  if (failing_) return *failing_;
  audit_.push_back(entry);
  return Done{};
}

}  // namespace coderunner
