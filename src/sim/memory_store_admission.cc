// How the memory store admits and refuses.
#include <algorithm>

#include "sim/memory_store.h"

namespace coderunner {

void MemoryStore::admit(NewExecution fresh, AdmitDone done) {
  if (failing_) return done(*failing_);
  if (fresh.idempotency)
    if (const auto before = find_by_key(fresh.account_id, *fresh.idempotency)) return done(*before);
  if (const auto too_deep = find_too_deep(fresh.account_id, fresh.caps))
    return done(AdmitAnswer{*too_deep});
  if (!fresh.ref.value.empty() && !refs_.insert(fresh.ref).second)
    return done(fail(Failure::conflict, "this admission's ref is stored already"));
  const JobId job{++last_job_};
  jobs_[job] = {.sealed_key = fresh.sealed_key,
                .payload = fresh.payload,
                .nonce = {},
                .minted_at = {},
                .trace = {},
                .ref = fresh.ref,
                .account = fresh.account_id,
                .idempotency = fresh.idempotency};

  StoredExecution stored;
  stored.row.job = job;
  stored.row.account = fresh.account;
  stored.row.account_id = fresh.account_id;
  stored.row.key = fresh.key;
  stored.row.identifier = fresh.identifier;
  stored.row.debug = fresh.debug;
  stored.queued_at = fresh.queued_at;
  stored.source = fresh.source;
  done(AdmitAnswer{Admitted{add(std::move(stored)), job}});
}

std::optional<AdmitAnswer> MemoryStore::find_by_key(const AccountId& account,
                                                    const Idempotency& asked) {
  for (auto& [id, job] : jobs_) {
    if (job.account != account || !job.idempotency || job.idempotency->key != asked.key) continue;
    const auto at = std::ranges::find_if(
        executions_, [job_id = id](const auto& entry) { return entry.second.row.job == job_id; });
    if (at == executions_.end() || at->second.row.queued_at < asked.kept_since) {
      job.idempotency.reset();
      return std::nullopt;
    }
    const Admitted first{at->first, id};
    if (job.idempotency->request != asked.request) return KeyReused{first.execution};
    return Repeated{first, at->second.row.status};
  }
  return std::nullopt;
}

std::optional<TooDeep> MemoryStore::find_too_deep(const AccountId& account,
                                                  const DepthCaps& caps) const {
  int own = 0;
  int all = 0;
  for (const auto& [lane, waiting] : lanes_) {
    const int queued = static_cast<int>(waiting.size());
    all += queued;
    if (std::get<0>(lane) && std::get<1>(lane) == account) own += queued;
  }
  if (own >= caps.per_account)
    return TooDeep{TooDeep::Of::account, std::min(own, caps.per_account + 1), caps.per_account};
  if (all >= caps.all) return TooDeep{TooDeep::Of::all, std::min(all, caps.all + 1), caps.all};
  return std::nullopt;
}

void MemoryStore::refuse(NewRefusal refusal, RefuseDone done) {
  if (failing_) return done(*failing_);
  const UtcTime hour = refusal_hour(refusal.at);
  StoredTally& own = tallies_[{hour, refusal.account_id}];
  StoredTally& all = tallies_[{hour, {}}];
  if (own.counted.kept >= refusal.bounds.per_account)
    return done(count_only(refusal, refusal.account_id));
  if (all.counted.kept >= refusal.bounds.all) return done(count_only(refusal, {}));
  ++own.counted.kept;
  ++all.counted.kept;
  done(add_refusal(refusal));
}

ExecutionId MemoryStore::count_only(const NewRefusal& refusal, const AccountId& counted_for) {
  const UtcTime hour = refusal_hour(refusal.at);
  StoredTally& tally = tallies_[{hour, counted_for}];
  fold(tally.counted, refusal.code);
  if (tally.row && find(*tally.row) != nullptr) {
    Execution& row = find(*tally.row)->row;
    row.error_code = number(folded_code(tally.counted));
    row.error_message = folded_message(tally.counted, hour);
    return row.id;
  }
  NewRefusal counting = refusal;
  counting.identifier.reset();
  counting.source.reset();
  counting.code = folded_code(tally.counted);
  counting.message = folded_message(tally.counted, hour);
  tally.row = add_refusal(counting);
  if (counted_for.value.empty()) {
    StoredExecution& row = *find(*tally.row);
    row.has_account = false;
    row.row.account.clear();
    row.row.account_id = {};
  }
  return *tally.row;
}

ExecutionId MemoryStore::add_refusal(const NewRefusal& refusal) {
  StoredExecution stored;
  stored.row.account = refusal.account;
  stored.row.account_id = refusal.account_id;
  stored.row.identifier = refusal.identifier;
  stored.row.status = Status::error;
  stored.row.error_code = number(refusal.code);
  stored.row.error_message = refusal.message;
  stored.row.finished_at = refusal.at;
  stored.queued_at = refusal.at;
  stored.source = refusal.source;
  return add(std::move(stored));
}

}  // namespace coderunner
