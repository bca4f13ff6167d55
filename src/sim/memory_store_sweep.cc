// What the reaper does to the rows of the memory store.
#include <algorithm>
#include <tuple>

#include "sim/memory_store.h"

namespace coderunner {

bool MemoryStore::is_parked(const StoredExecution& stored, UtcTime now) const {
  const bool paused = paused_.contains(AccountId{}) ||
                      (stored.has_account && paused_.contains(stored.row.account_id));
  return paused || is_gated(stored.row.key, now);
}

Result<std::vector<OldQueuedRow>> MemoryStore::queued_before(UtcTime cutoff, UtcTime now,
                                                             int limit) {
  if (failing_) return *failing_;
  std::vector<OldQueuedRow> old;
  for (const auto& [id, stored] : unfinished_)
    if (stored->row.status == Status::queued && stored->queued_at && *stored->queued_at < cutoff &&
        !is_parked(*stored, now))
      old.push_back({id, *stored->queued_at});
  std::ranges::stable_sort(old, {}, &OldQueuedRow::queued_at);
  old.resize(std::min(old.size(), static_cast<std::size_t>(std::max(limit, 0))));
  return old;
}

Result<bool> MemoryStore::end_never_dispatched(const NeverDispatched& verdict) {
  if (failing_) return *failing_;
  StoredExecution* stored = find(verdict.execution);
  const bool ticks = std::ranges::any_of(
      heartbeats_, [&](const auto& beat) { return beat.second.now >= verdict.no_tick_since; });
  if (stored == nullptr || stored->row.status != Status::queued || ticks ||
      stored->queued_at.value_or(verdict.queued_before) >= verdict.queued_before ||
      is_parked(*stored, verdict.now))
    return false;
  end_queued(*stored, verdict.message, verdict.now);
  return true;
}

Result<std::optional<UtcTime>> MemoryStore::last_tick() {
  if (failing_) return *failing_;
  std::optional<UtcTime> last;
  for (const auto& [drainer, beat] : heartbeats_)
    last = std::max(last.value_or(beat.now), beat.now);
  return last;
}

Result<int> MemoryStore::forget_idempotency_keys(UtcTime queued_before, int most) {
  if (failing_) return *failing_;
  int forgotten = 0;
  for (const auto& [id, stored] : executions_) {
    StoredJob* job = job_of(stored.row);
    const bool is_due = job != nullptr && job->idempotency && stored.row.queued_at < queued_before;
    if (!is_due || forgotten == most) continue;
    job->idempotency.reset();
    ++forgotten;
  }
  return forgotten;
}

Result<int> MemoryStore::purge_audit(UtcTime before, int most) {
  if (failing_) return *failing_;
  const auto at = [](const AuditEntry& entry) { return entry.act.at; };
  int gone = 0;
  for (; gone < most && !audit_.empty(); ++gone) {
    const auto oldest = std::ranges::min_element(audit_, {}, at);
    if (at(*oldest) >= before) break;
    audit_.erase(oldest);
  }
  return gone;
}

Result<int> MemoryStore::forget_gates(UtcTime opened_before, int most) {
  if (failing_) return *failing_;
  const auto until = [](const auto& entry) { return entry.second.until; };
  int gone = 0;
  for (; gone < most && !gates_.empty(); ++gone) {
    const auto oldest = std::ranges::min_element(gates_, {}, until);
    if (until(*oldest) >= opened_before) break;
    gates_.erase(oldest);
  }
  return gone;
}

Result<int> MemoryStore::scrub_keys(UtcTime started_before, int most) {
  if (failing_) return *failing_;
  std::set<JobId> due;
  std::set<JobId> queued;
  for (const auto& [id, stored] : executions_) {
    const Execution& row = stored.row;
    const auto since = row.started_at ? row.started_at : row.finished_at;
    if (!row.job) continue;
    if (row.status == Status::queued) queued.insert(*row.job);
    if (since && *since < started_before) due.insert(*row.job);
  }
  int scrubbed = 0;
  for (auto& [id, job] : jobs_) {
    if (!job.sealed_key || !due.contains(id) || queued.contains(id) || scrubbed >= most) continue;
    job.sealed_key.reset();
    ++scrubbed;
  }
  return scrubbed;
}

Result<std::optional<UtcTime>> MemoryStore::newest_queued_at() {
  if (failing_) return *failing_;
  std::optional<UtcTime> newest;
  for (const auto& [id, stored] : executions_)
    if (stored.queued_at) newest = std::max(newest.value_or(*stored.queued_at), *stored.queued_at);
  return newest;
}

Result<Purged> MemoryStore::purge(const PurgeBatch& batch) {
  if (failing_) return *failing_;
  std::vector<std::tuple<bool, UtcTime, ExecutionId>> due;  // old writers' rows come last
  for (const auto& [id, stored] : executions_) {
    const auto since = stored.queued_at ? stored.queued_at : stored.row.started_at;
    if (is_finished(stored.row.status) && since && *since < batch.queued_before)
      due.emplace_back(!stored.queued_at, *since, id);
  }
  std::ranges::sort(due);
  Purged purged;
  for (const auto& [of_old_writer, since, id] : due) {
    purged.more = true;
    if (purged.rows >= batch.rows || purged.log_lines >= batch.log_lines) return purged;
    auto& lines = logs_[id];
    const auto fit =
        std::min(std::ssize(lines), std::ptrdiff_t{batch.log_lines - purged.log_lines});
    lines.erase(lines.begin(), lines.begin() + fit);
    purged.log_lines += static_cast<int>(fit);
    if (!lines.empty()) return purged;
    logs_.erase(id);
    const Execution row = executions_.at(id).row;
    const auto job = row.job;
    if (row.key && row.started_at) ended_runs_.erase({*row.key, *row.started_at, id});
    executions_.erase(id);
    const bool shared = std::ranges::any_of(
        executions_, [&](const auto& entry) { return entry.second.row.job == job; });
    if (job && !shared) {
      refs_.erase(jobs_.at(*job).ref);
      jobs_.erase(*job);
    }
    ++purged.rows;
  }
  purged.more = false;
  return purged;
}

Result<Done> MemoryStore::record_sweep(UtcTime now) {
  if (failing_) return *failing_;
  last_sweep_ = now;
  return Done{};
}

}  // namespace coderunner
