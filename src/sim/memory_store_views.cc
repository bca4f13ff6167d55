// What the memory store shows, and its gates.
#include <algorithm>
#include <map>
#include <tuple>

#include "domain/limits.h"
#include "sim/memory_store.h"

namespace coderunner {
namespace {

int page(int limit) { return std::clamp(limit, 1, limits::kMaxListed + 1); }

}  // namespace

// ---- QueueView

Result<std::optional<Execution>> MemoryStore::execution(ExecutionId id) {
  if (failing_) return *failing_;
  const StoredExecution* stored = find(id);
  return stored == nullptr ? std::nullopt : std::optional{stored->row};
}

Result<std::optional<ExecutionText>> MemoryStore::text(ExecutionId id) {
  if (failing_) return *failing_;
  const StoredExecution* stored = find(id);
  if (stored == nullptr) return std::optional<ExecutionText>{};
  const StoredJob* job = job_of(stored->row);
  return std::optional{ExecutionText{stored->source, job != nullptr ? job->payload : std::nullopt}};
}

Result<std::optional<DispatchTrace>> MemoryStore::dispatch_trace(ExecutionId id) {
  if (failing_) return *failing_;
  const StoredExecution* stored = find(id);
  const StoredJob* job = stored != nullptr ? job_of(stored->row) : nullptr;
  return job != nullptr ? std::optional{job->trace} : std::nullopt;
}

Result<std::vector<Execution>> MemoryStore::executions(const ExecutionFilter& filter) {
  if (failing_) return *failing_;
  std::vector<Execution> found;
  for (auto at = executions_.rbegin(); at != executions_.rend(); ++at) {
    const Execution& row = at->second.row;
    if (filter.before && row.id >= *filter.before) continue;
    if (filter.account && !(at->second.has_account && row.account_id == *filter.account)) continue;
    if (filter.state && row.state() != *filter.state) continue;
    found.push_back(row);
    if (std::ssize(found) == page(filter.limit)) break;
  }
  return found;
}

Result<std::vector<LogLine>> MemoryStore::logs(ExecutionId id, LogId after, int limit) {
  if (failing_) return *failing_;
  std::vector<LogLine> found;
  for (const LogLine& line : logs_[id])
    if (line.id > after && std::ssize(found) < page(limit)) found.push_back(line);
  return found;
}

Result<QueueFigures> MemoryStore::figures() {
  if (failing_) return *failing_;
  QueueFigures figures;
  std::map<std::pair<bool, AccountId>, AccountFigures> accounts;
  std::map<std::tuple<bool, AccountId, std::optional<ApiKeyHash>>, KeyFigures> lanes;
  for (const auto& [id, stored] : unfinished_) {
    const Execution& row = stored->row;
    AccountFigures& account = accounts[{stored->has_account, row.account_id}];
    account.account = row.account;
    account.account_id = row.account_id;
    if (row.status == Status::running) {
      ++account.in_flight;
      continue;
    }
    const UtcTime queued_at = stored->queued_at.value_or(UtcTime{});
    const auto lane = lanes.try_emplace({stored->has_account, row.account_id, row.key},
                                        KeyFigures{row.account_id, row.key, 0, queued_at});
    ++lane.first->second.queued;
    lane.first->second.oldest_queued_at = std::min(lane.first->second.oldest_queued_at, queued_at);
    ++account.queued;
    if (const StoredJob* job = job_of(row); job != nullptr && job->nonce)
      figures.outstanding.push_back({id, row.account_id, row.key});
    account.oldest_queued_at = std::min(account.oldest_queued_at.value_or(queued_at), queued_at);
  }
  for (auto& [account, counted] : accounts) figures.accounts.push_back(std::move(counted));
  for (auto& [lane, counted] : lanes) figures.lanes.push_back(std::move(counted));
  for (const auto& [drainer, beat] : heartbeats_) {
    if (figures.last_tick && beat.now <= *figures.last_tick) continue;
    figures.last_tick = beat.now;
    figures.trouble = beat.trouble;
  }
  return figures;
}

}  // namespace coderunner
