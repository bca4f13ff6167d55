#include "sim/memory_store.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "domain/limits.h"
#include "domain/sent_changes.h"

namespace coderunner {
namespace {

using BeginAnswer = std::variant<Begun, BeginRefused>;

std::string clamped(const std::string& text, std::size_t max_bytes) {
  return clamp_utf8(replace_invalid_utf8(text), max_bytes, "…");
}

std::optional<std::string> unless_empty(std::string text) {
  return text.empty() ? std::nullopt : std::optional{std::move(text)};
}

}  // namespace

// ---- as another program would

Admitted MemoryStore::plant(const Planted& row) {
  StoredExecution stored;
  if (row.with_job) {
    stored.row.job = JobId{++last_job_};
    jobs_[*stored.row.job].sealed_key = row.sealed_key;
  }
  stored.row.account = row.account;
  stored.row.account_id = row.account_id.value_or(AccountId{});
  stored.row.key = row.key;
  stored.row.status = status_from_text(row.status).value_or(Status::error);
  stored.row.error_code = row.error_code;
  stored.row.started_at = row.started_at;
  stored.row.finished_at = row.finished_at;
  stored.row.run = row.run;
  stored.has_account = row.account_id.has_value();
  stored.queued_at = row.queued_at;
  const JobId job = stored.row.job.value_or(JobId{});
  return {add(std::move(stored)), job};
}

void MemoryStore::each_execution(const std::function<void(const Execution&)>& visit) const {
  for (const auto& [id, stored] : executions_) visit(stored.row);
}

std::optional<std::string> MemoryStore::sealed_key(JobId job) const {
  const auto at = jobs_.find(job);
  return at == jobs_.end() ? std::nullopt : at->second.sealed_key;
}

// ---- DispatchStore

Result<std::vector<Lane>> MemoryStore::lanes(int rows_per_lane) {
  if (failing_) return *failing_;
  std::vector<Lane> lanes;
  for (const auto& [lane, waiting] : lanes_) {
    std::vector<LaneRow> rows;
    for (const auto& [place, stored] : waiting) {
      if (std::ssize(rows) >= rows_per_lane) break;
      const StoredJob* job = job_of(stored->row);
      rows.push_back({place.second, stored->row.job.value_or(JobId{}), place.first,
                      job != nullptr ? job->trace.not_before : std::nullopt});
    }
    if (!rows.empty()) lanes.push_back({std::get<1>(lane), std::get<2>(lane), std::move(rows)});
  }
  return lanes;
}

Result<std::vector<RunningRow>> MemoryStore::running() {
  if (failing_) return *failing_;
  std::vector<RunningRow> running;
  for (const auto& [id, stored] : unfinished_)
    if (stored->row.status == Status::running)
      running.push_back({id, stored->row.account_id, stored->row.run, stored->row.executor,
                         stored->row.started_at.value_or(UtcTime{}), stored->row.key});
  std::ranges::stable_sort(running, {}, &RunningRow::started_at);
  return running;
}

Result<std::vector<SlotUse>> MemoryStore::slot_use(UtcTime since, UtcTime now) {
  if (failing_) return *failing_;
  std::map<AccountId, Millis> held;
  for (const auto& [id, stored] : executions_) {
    const Execution& row = stored.row;
    const UtcTime started = row.started_at.value_or(UtcTime{});
    const bool runs = row.status == Status::running;
    const bool ended = row.started_at && started >= since - limits::kLongestRun &&
                       row.finished_at && *row.finished_at > since;
    if (!runs && !ended) continue;
    held[row.account_id] += std::max((runs ? now : *row.finished_at) - started, Millis{0});
  }
  std::vector<SlotUse> use;
  for (const auto& [account, time] : held) use.push_back({account, time});
  return use;
}

Result<MintAnswer> MemoryStore::mint(const Mint& mint) {
  if (failing_) return *failing_;
  StoredExecution* stored = find(mint.execution);
  if (stored == nullptr || stored->row.status != Status::queued ||
      stored->row.job.value_or(JobId{}) != mint.job)
    return MintAnswer::not_queued;
  const Execution& row = stored->row;
  if (paused_.contains(AccountId{}) || (stored->has_account && paused_.contains(row.account_id)))
    return MintAnswer::account_paused;
  if (is_gated(row.key, mint.now)) return MintAnswer::key_gated;
  StoredJob* job = job_of(row);
  if (job == nullptr || (row.key && !job->sealed_key)) return MintAnswer::key_gone;
  job->nonce = mint.nonce;
  job->minted_at = mint.now;
  ++job->trace.attempts;
  return MintAnswer::minted;
}

Result<RevokeAnswer> MemoryStore::revoke(ExecutionId execution, const BackOff& back_off) {
  if (failing_) return *failing_;
  const StoredExecution* stored = find(execution);
  if (stored == nullptr || is_finished(stored->row.status)) return RevokeAnswer::ended;
  if (stored->row.status == Status::running) return RevokeAnswer::running;
  if (StoredJob* job = job_of(stored->row)) {
    job->nonce.reset();
    job->trace.not_before = back_off.not_before;
    if (!back_off.error.empty())
      job->trace.last_error = clamped(back_off.error, limits::kMaxDispatchErrorBytes);
  }
  return RevokeAnswer::free;
}

Result<int> MemoryStore::revoke_all() {
  if (failing_) return *failing_;
  int revoked = 0;
  for (const auto& [id, stored] : unfinished_) {
    StoredJob* job = job_of(stored->row);
    if (stored->row.status != Status::queued || job == nullptr || !job->nonce) continue;
    job->nonce.reset();
    ++revoked;
  }
  return revoked;
}

Result<bool> MemoryStore::abandon(ExecutionId execution, const std::optional<RunId>& run,
                                  const std::string& reason, UtcTime now) {
  if (failing_) return *failing_;
  return end_run(find(execution), run,
                 {ErrorCode::ended_from_outside, reaped(reason, *sent_changes(execution))}, now);
}

Result<bool> MemoryStore::end_undispatched(ExecutionId execution, const std::string& message,
                                           UtcTime now) {
  if (failing_) return *failing_;
  StoredExecution* stored = find(execution);
  if (stored == nullptr || stored->row.status != Status::queued) return false;
  end_queued(*stored, message, now);
  return true;
}

Result<std::vector<std::string>> MemoryStore::sent_changes(ExecutionId execution) {
  if (failing_) return *failing_;
  return coderunner::sent_changes(logs_[execution]);
}

Result<Done> MemoryStore::heartbeat(const Heartbeat& beat) {
  if (failing_) return *failing_;
  Heartbeat& kept = heartbeats_[beat.drainer] = beat;
  if (kept.trouble)
    kept.trouble->error = clamped(kept.trouble->error, limits::kMaxDispatchErrorBytes);
  return Done{};
}

// ---- Ledger

Result<std::variant<Begun, BeginRefused>> MemoryStore::begin(const Begin& begin) {
  if (failing_) return *failing_;
  StoredExecution* stored = find_queued(begin.job);
  StoredJob* job = stored != nullptr ? job_of(stored->row) : nullptr;
  if (job == nullptr || job->nonce != begin.nonce || !job->minted_at ||
      *job->minted_at < begin.now - limits::kNonceLifetime)
    return BeginAnswer{BeginRefused{}};
  job->nonce.reset();
  leave_lane(*stored);
  Execution& row = stored->row;
  row.status = Status::running;
  row.started_at = begin.now;
  row.run = begin.run;
  row.executor = begin.executor;
  if (begin.before_commit) begin.before_commit(row.id);
  return BeginAnswer{Begun{row.id, row.account, row.key, job->sealed_key,
                           stored->source.value_or(""), job->payload, row.identifier, row.debug}};
}

Result<FinishAnswer> MemoryStore::finish(ExecutionId execution, const RunId& run,
                                         const Outcome& outcome, UtcTime now) {
  if (failing_) return *failing_;
  return end_run(find(execution), run, outcome, now) ? FinishAnswer::finished
                                                     : FinishAnswer::not_this_run;
}

Result<Done> MemoryStore::append_log(ExecutionId execution, const std::vector<LogLine>& lines) {
  if (failing_) return *failing_;
  for (const LogLine& line : lines) {
    LogLine kept = line;
    kept.id = {++last_log_};
    kept.message = replace_invalid_utf8(line.message);
    logs_[execution].push_back(std::move(kept));
  }
  return Done{};
}

Result<AnnounceAnswer> MemoryStore::announce(ExecutionId execution, const RunId& run,
                                             const std::vector<LogLine>& lines) {
  if (failing_) return *failing_;
  const StoredExecution* stored = find(execution);
  if (stored == nullptr || stored->row.status != Status::running || stored->row.run != run)
    return AnnounceAnswer::not_this_run;
  const auto kept = append_log(execution, lines);
  if (!kept) return kept.error();
  return AnnounceAnswer::announced;
}

// ---- rows

ExecutionId MemoryStore::add(StoredExecution execution) {
  const ExecutionId id{++last_execution_};
  execution.row.id = id;
  execution.row.queued_at =
      execution.queued_at.value_or(execution.row.started_at.value_or(UtcTime{}));
  StoredExecution& stored = executions_.emplace(id, std::move(execution)).first->second;
  if (is_finished(stored.row.status))
    enter_as_finished(stored);
  else
    unfinished_[id] = &stored;
  if (stored.row.status == Status::queued) enter_lane(stored);
  return id;
}

MemoryStore::StoredExecution* MemoryStore::find(ExecutionId id) {
  const auto at = executions_.find(id);
  return at == executions_.end() ? nullptr : &at->second;
}

MemoryStore::StoredJob* MemoryStore::job_of(const Execution& row) {
  const auto at = row.job ? jobs_.find(*row.job) : jobs_.end();
  return at == jobs_.end() ? nullptr : &at->second;
}

MemoryStore::StoredExecution* MemoryStore::find_queued(JobId job) {
  for (const auto& [id, stored] : unfinished_)
    if (stored->row.job == job && stored->row.status == Status::queued) return stored;
  return nullptr;
}

void MemoryStore::end_queued(StoredExecution& stored, const std::string& message, UtcTime now) {
  Execution& row = stored.row;
  row.status = Status::error;
  row.error_code = number(ErrorCode::ended_from_outside);
  row.error_message = clamped(message, limits::kMaxErrorMessageBytes);
  row.finished_at = now;
  ended(stored);
}

void MemoryStore::enter_lane(const StoredExecution& stored) {
  LaneRows& lane = lanes_[{stored.has_account, stored.row.account_id, stored.row.key}];
  lane[{stored.queued_at.value_or(UtcTime{}), stored.row.id}] = &stored;
}

void MemoryStore::leave_lane(const StoredExecution& stored) {
  const auto lane = lanes_.find({stored.has_account, stored.row.account_id, stored.row.key});
  if (lane == lanes_.end()) return;
  lane->second.erase({stored.queued_at.value_or(UtcTime{}), stored.row.id});
  if (lane->second.empty()) lanes_.erase(lane);
}

void MemoryStore::enter_as_finished(const StoredExecution& stored) {
  const Execution& row = stored.row;
  unfinished_.erase(row.id);
  if (row.key && row.started_at && row.finished_at)
    ended_runs_.insert({*row.key, *row.started_at, row.id});
}

void MemoryStore::ended(const StoredExecution& stored) {
  leave_lane(stored);
  enter_as_finished(stored);
  StoredJob* job = job_of(stored.row);
  if (job == nullptr) return;
  job->sealed_key.reset();
  job->nonce.reset();
}

bool MemoryStore::end_run(StoredExecution* at, const std::optional<RunId>& run,
                          const Outcome& outcome, UtcTime now) {
  if (at == nullptr || at->row.status != Status::running || at->row.run != run) return false;
  Execution& row = at->row;
  row.status = outcome.status();
  row.error_code = outcome.code ? std::optional{number(*outcome.code)} : std::nullopt;
  row.error_message = unless_empty(clamped(outcome.message, limits::kMaxErrorMessageBytes));
  row.finished_at = now;
  ended(*at);
  return true;
}

}  // namespace coderunner
