#include <algorithm>
#include <memory>

#include "adapters/sql/faces.h"
#include "adapters/sql/refusal_rows.h"
#include "adapters/sql/statements.h"

namespace coderunner::sql {
namespace {

Result<Admitted> insert_admission(Session& session, const NewExecution& fresh) {
  std::optional<std::string> key;
  std::optional<RequestHash> request;
  if (fresh.idempotency) {
    key = fresh.idempotency->key;
    request = fresh.idempotency->request;
  }
  const auto job = session.insert(text::kInsertJob, {fresh.sealed_key, fresh.payload, fresh.ref,
                                                     fresh.account_id, key, request});
  if (!job) return job.error();
  const auto execution = session.insert(
      text::kInsertExecution, {*job, fresh.account, fresh.account_id, fresh.identifier,
                               fresh.source, fresh.debug ? 1 : 0, fresh.queued_at, fresh.key});
  if (!execution) return execution.error();
  return Admitted{{*execution}, {*job}};
}

Result<std::optional<Admitted>> find_admission(Session& session, const AdmissionRef& ref) {
  const auto found = session.query(text::kFindAdmission, {ref});
  if (!found) return found.error();
  if (found->empty()) return std::optional<Admitted>{};
  const Row& row = found->front();
  return std::optional{Admitted{{row.number(0)}, {row.number(1)}}};
}

// What the key has admitted before; a key that has had its time is taken from its job.
Result<std::optional<AdmitAnswer>> find_by_key(Session& session, const AccountId& account,
                                               const Idempotency& asked) {
  const auto found = session.query(text::kFindByIdempotencyKey, {account, asked.key});
  if (!found) return found.error();
  if (found->empty()) return std::optional<AdmitAnswer>{};
  const Row& row = found->front();
  if (row.is_null(2) || row.time(4) < asked.kept_since) {
    const auto forgotten = session.execute(text::kForgetIdempotencyKey, {row.number(0)});
    if (!forgotten) return forgotten.error();
    return std::optional<AdmitAnswer>{};
  }
  const Admitted first{{row.number(2)}, {row.number(0)}};
  if (row.text(1) != asked.request.value)
    return std::optional<AdmitAnswer>{KeyReused{first.execution}};
  return std::optional<AdmitAnswer>{
      Repeated{first, status_from_text(row.text(3)).value_or(Status::error)}};
}

// Counts the account's rows only where all of them could be its own.
Result<std::optional<TooDeep>> find_too_deep(Session& session, Depths& depths,
                                             const AccountId& account, const DepthCaps& caps) {
  const auto all = depths.in_all(session, std::max(caps.all, caps.per_account) + 1);
  if (!all) return all.error();
  if (*all >= caps.per_account) {
    const auto own = depths.of_account(session, account, caps.per_account + 1);
    if (!own) return own.error();
    if (*own >= caps.per_account)
      return std::optional{TooDeep{TooDeep::Of::account, *own, caps.per_account}};
  }
  if (*all < caps.all) return std::optional<TooDeep>{};
  return std::optional{TooDeep{TooDeep::Of::all, std::min(*all, caps.all + 1), caps.all}};
}

Result<AdmitAnswer> admit_now(Session& session, Depths& depths, const NewExecution& fresh) {
  if (fresh.idempotency) {
    const auto before = find_by_key(session, fresh.account_id, *fresh.idempotency);
    if (!before) return before.error();
    if (*before) return **before;
  }
  const auto too_deep = find_too_deep(session, depths, fresh.account_id, fresh.caps);
  if (!too_deep) return too_deep.error();
  if (*too_deep) return AdmitAnswer{**too_deep};
  const auto admitted = insert_admission(session, fresh);
  if (!admitted) return admitted.error();
  depths.admitted(fresh.account_id);
  return AdmitAnswer{*admitted};
}

}  // namespace

void AdmissionFace::admit(NewExecution execution, AdmitDone done) {
  const auto fresh = std::make_shared<const NewExecution>(std::move(execution));
  const auto answer = std::make_shared<AdmitAnswer>();
  Unit unit;
  unit.counts_itself = true;
  unit.run = [&writer = writer_, depths = depths_, fresh,
              answer](Session& session) -> Result<Keep> {
    depths->keep_for(writer.generation());
    const auto given = admit_now(session, *depths, *fresh);
    if (!given) return given.error();
    *answer = *given;
    return std::holds_alternative<Admitted>(*answer) ? Keep::yes : Keep::no;
  };
  unit.landed = [fresh, answer](Session& session) -> Result<bool> {
    const auto rows = find_admission(session, fresh->ref);
    if (!rows) return rows.error();
    if (*rows) *answer = **rows;
    return rows->has_value();
  };
  unit.done = [answer, done = std::move(done)](const std::optional<Error>& error) {
    done(error ? Result<AdmitAnswer>{*error} : Result<AdmitAnswer>{*answer});
  };
  writer_.submit(std::move(unit));
}

void AdmissionFace::refuse(NewRefusal refusal, RefuseDone done) {
  const auto fresh = std::make_shared<const NewRefusal>(std::move(refusal));
  const auto kept = std::make_shared<KeptRefusal>();
  Unit unit;
  unit.counts_itself = true;
  unit.run = [fresh, kept](Session& session) -> Result<Keep> {
    const auto row = keep_refusal(session, *fresh);
    if (!row) return row.error();
    *kept = *row;
    return Keep::yes;
  };
  unit.landed = [fresh, kept](Session& session) { return refusal_landed(session, *fresh, *kept); };
  unit.done = [kept, done = std::move(done)](const std::optional<Error>& error) {
    done(error ? Result<ExecutionId>{*error} : Result<ExecutionId>{kept->row});
  };
  writer_.submit(std::move(unit));
}

}  // namespace coderunner::sql
