#include "adapters/sql/faces.h"
#include "adapters/sql/statements.h"

namespace coderunner::sql {
namespace {

Result<Admitted> insert_admission(Session& session, const NewExecution& fresh) {
  const auto job = session.insert(text::kInsertJob,
                                  {fresh.sealed_key, fresh.payload, fresh.ref, fresh.account_id});
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

Result<ExecutionId> insert_refusal(Session& session, const NewRefusal& refusal) {
  const auto id =
      session.insert(text::kInsertRefusal,
                     {refusal.account, refusal.account_id, refusal.identifier, number(refusal.code),
                      refusal.message, refusal.source, refusal.at, refusal.at});
  if (!id) return id.error();
  return ExecutionId{*id};
}

}  // namespace

void AdmissionFace::admit(NewExecution execution, AdmitDone done) {
  const auto fresh = std::make_shared<const NewExecution>(std::move(execution));
  const auto admitted = std::make_shared<Admitted>();
  Unit unit;
  unit.run = [fresh, admitted](Session& session) -> Result<Keep> {
    const auto rows = insert_admission(session, *fresh);
    if (!rows) return rows.error();
    *admitted = *rows;
    return Keep::yes;
  };
  unit.landed = [fresh, admitted](Session& session) -> Result<bool> {
    const auto rows = find_admission(session, fresh->ref);
    if (!rows) return rows.error();
    if (*rows) *admitted = **rows;
    return rows->has_value();
  };
  unit.done = [admitted, done = std::move(done)](const std::optional<Error>& error) {
    done(error ? Result<Admitted>{*error} : Result<Admitted>{*admitted});
  };
  writer_.submit(std::move(unit));
}

void AdmissionFace::refuse(NewRefusal refusal, RefuseDone done) {
  const auto fresh = std::make_shared<const NewRefusal>(std::move(refusal));
  const auto id = std::make_shared<ExecutionId>();
  Unit unit;
  unit.run = [fresh, id](Session& session) -> Result<Keep> {
    const auto row = insert_refusal(session, *fresh);
    if (!row) return row.error();
    *id = *row;
    return Keep::yes;
  };
  unit.landed = [fresh, id](Session& session) -> Result<bool> {
    const auto found = session.query(text::kFindRefusal, {*id, fresh->account_id, fresh->at});
    if (!found) return found.error();
    return !found->empty();
  };
  unit.done = [id, done = std::move(done)](const std::optional<Error>& error) {
    done(error ? Result<ExecutionId>{*error} : Result<ExecutionId>{*id});
  };
  writer_.submit(std::move(unit));
}

}  // namespace coderunner::sql
