#include "adapters/sql/faces.h"
#include "adapters/sql/rows.h"
#include "adapters/sql/statements.h"

namespace coderunner::sql {
namespace {

// The pause of everybody has the empty account's row.
AccountId row_of(const std::optional<NamedAccount>& whom) { return whom ? whom->id : AccountId{}; }

Values values_of(const AuditEntry& entry) {
  return {entry.act.at, entry.act.actor, to_text(entry.deed), entry.subject, entry.details};
}

// Does the deed and writes its entry, in one transaction. The entry is the act's own mark after a
// commit of unknown outcome. No entry: the deed came too late, and nothing of it stays.
template <class T, class Work>
Result<T> act(CommitQueue& writer, Work work) {
  std::int64_t id = 0;
  std::optional<AuditEntry> entry;
  return writer.run<T>(
      [&](Session& session, T& answer) -> Result<Keep> {
        auto done = work(session, answer);
        if (!done) return done.error();
        entry = *std::move(done);
        if (!entry) return Keep::no;
        const auto row = session.insert(text::kInsertAudit, values_of(*entry));
        if (!row) return row.error();
        id = *row;
        return Keep::yes;
      },
      [&](Session& session, T&) -> Result<bool> {
        Values values = values_of(*entry);
        values.insert(values.begin(), id);
        const auto mark = session.query(text::kFindAudit, values);
        if (!mark) return mark.error();
        return !mark->empty();
      });
}

using MaybeEntry = Result<std::optional<AuditEntry>>;

Result<bool> cancel_row(Session& session, const Act& act, ExecutionId execution) {
  const auto ended =
      session.execute(text::kCancel, {number(ErrorCode::cancelled), act.at, execution});
  if (!ended) return ended.error();
  if (*ended == 0) return false;
  if (const auto scrubbed = session.execute(text::kScrubJob, {execution}); !scrubbed)
    return scrubbed.error();
  return true;
}

MaybeEntry cancel_one(Session& session, const Act& act, ExecutionId execution,
                      CancelAnswer& answer) {
  const auto cancelled = cancel_row(session, act, execution);
  if (!cancelled) return cancelled.error();
  answer = CancelAnswer::cancelled;
  if (*cancelled) return std::optional{audit_cancel(act, execution)};
  const auto found = session.query(text::kStatusAndJob, {execution});
  if (!found) return found.error();
  answer = found->empty() ? CancelAnswer::unknown : CancelAnswer::not_queued;
  return std::optional<AuditEntry>{};
}

MaybeEntry cancel_all(Session& session, const Act& act, const NamedAccount& account,
                      int& cancelled) {
  const auto queued = session.query(text::kQueuedOfAccount, {account.id});
  if (!queued) return queued.error();
  for (const Row& row : *queued) {
    const auto one = cancel_row(session, act, {row.number(0)});
    if (!one) return one.error();
    cancelled += *one ? 1 : 0;
  }
  return std::optional{audit_cancel_queued(act, account, cancelled)};
}

}  // namespace

Result<Done> ControlFace::pause(const Act& act, const std::optional<NamedAccount>& whom) {
  return sql::act<Done>(writer_, [&](Session& session, Done&) -> MaybeEntry {
    if (const auto lifted = session.execute(text::kResume, {row_of(whom)}); !lifted)
      return lifted.error();
    if (const auto set = session.execute(text::kPause, {row_of(whom), act.at}); !set)
      return set.error();
    return std::optional{audit_pause(act, whom)};
  });
}

Result<Done> ControlFace::resume(const Act& act, const std::optional<NamedAccount>& whom) {
  return sql::act<Done>(writer_, [&](Session& session, Done&) -> MaybeEntry {
    if (const auto lifted = session.execute(text::kResume, {row_of(whom)}); !lifted)
      return lifted.error();
    return std::optional{audit_resume(act, whom)};
  });
}

Result<CancelAnswer> ControlFace::cancel(const Act& act, ExecutionId execution) {
  return sql::act<CancelAnswer>(writer_, [&](Session& session, CancelAnswer& answer) {
    return cancel_one(session, act, execution, answer);
  });
}

Result<int> ControlFace::cancel_queued(const Act& act, const NamedAccount& account) {
  return sql::act<int>(writer_, [&](Session& session, int& cancelled) {
    return cancel_all(session, act, account, cancelled);
  });
}

Result<Done> ControlFace::set_per_account(const Act& act, const NamedAccount& account,
                                          std::optional<int> cap) {
  return sql::act<Done>(writer_, [&](Session& session, Done&) -> MaybeEntry {
    if (const auto lifted = session.execute(text::kClearOverride, {account.id}); !lifted)
      return lifted.error();
    if (cap)
      if (const auto set = session.execute(text::kSetOverride, {account.id, *cap}); !set)
        return set.error();
    return std::optional{audit_per_account(act, account, cap)};
  });
}

Result<AccountState> ControlFace::account(const AccountId& account) {
  return readers_.read<AccountState>([&](Session& session) -> Result<AccountState> {
    const auto rows = session.query(text::kAccountState, {account, account, account, account});
    if (!rows) return rows.error();
    const Row& row = rows->front();
    AccountState state{.queued = static_cast<int>(row.number(0)),
                       .in_flight = static_cast<int>(row.number(1)),
                       .paused = row.number(2) != 0,
                       .per_account = {}};
    if (const auto cap = row.maybe_number(3)) state.per_account = static_cast<int>(*cap);
    return state;
  });
}

Result<Done> ControlFace::record(const AuditEntry& entry) {
  return sql::act<Done>(writer_,
                        [&](Session&, Done&) -> MaybeEntry { return std::optional{entry}; });
}

}  // namespace coderunner::sql
