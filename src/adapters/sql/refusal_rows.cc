#include "adapters/sql/refusal_rows.h"

#include "adapters/sql/rows.h"
#include "adapters/sql/statements.h"
#include "domain/limits.h"

namespace coderunner::sql {
namespace {

struct StoredTally {
  AccountId owner;  // the empty one: everybody
  UtcTime hour;
  RefusalTally counted;
  std::optional<ExecutionId> row;  // that counts the rest
  bool is_stored = false;
};

Result<StoredTally> read_tally(Session& session, const AccountId& owner, UtcTime hour) {
  const auto found = session.query(text::kRefusalTally, {hour, owner});
  if (!found) return found.error();
  StoredTally tally{owner, hour, {}, std::nullopt, !found->empty()};
  if (found->empty()) return tally;
  const Row& row = found->front();
  tally.counted = {static_cast<int>(row.number(0)), static_cast<int>(row.number(1)),
                   static_cast<int>(row.number(2))};
  if (const auto id = row.maybe_number(3)) tally.row = ExecutionId{*id};
  return tally;
}

Result<Done> write_tally(Session& session, const StoredTally& tally) {
  const auto text = tally.is_stored ? text::kUpdateTally : text::kFirstTally;
  const auto written =
      session.execute(text, {tally.counted.kept, tally.counted.rejected,
                             tally.counted.does_not_parse, tally.row, tally.hour, tally.owner});
  if (!written) return written.error();
  return Done{};
}

Result<ExecutionId> insert_refusal(Session& session, const NewRefusal& refusal) {
  const auto id =
      session.insert(text::kInsertRefusal,
                     {refusal.account, refusal.account_id, refusal.identifier, number(refusal.code),
                      refusal.message, refusal.source, refusal.at, refusal.at});
  if (!id) return id.error();
  return ExecutionId{*id};
}

Result<ExecutionId> insert_counting_row(Session& session, const NewRefusal& refusal,
                                        const StoredTally& tally) {
  const bool of_all = tally.owner.value.empty();
  const auto id =
      session.insert(text::kInsertRefusal,
                     {of_all ? Value(std::nullopt) : Value(refusal.account),
                      of_all ? Value(std::nullopt) : Value(refusal.account_id), std::nullopt,
                      number(folded_code(tally.counted)), folded_message(tally.counted, tally.hour),
                      std::nullopt, refusal.at, refusal.at});
  if (!id) return id.error();
  return ExecutionId{*id};
}

Result<KeptRefusal> count_only(Session& session, const NewRefusal& refusal, StoredTally tally) {
  fold(tally.counted, refusal.code);
  std::int64_t changed = 0;
  if (tally.row) {
    const auto updated = session.execute(text::kFoldRefusal,
                                         {number(folded_code(tally.counted)),
                                          folded_message(tally.counted, tally.hour), *tally.row});
    if (!updated) return updated.error();
    changed = *updated;
  }
  if (changed == 0) {  // the first of the hour, or the reaper has purged the row
    const auto row = insert_counting_row(session, refusal, tally);
    if (!row) return row.error();
    tally.row = *row;
  }
  if (const auto written = write_tally(session, tally); !written) return written.error();
  return KeptRefusal{*tally.row, tally.owner, tally.counted};
}

}  // namespace

Result<KeptRefusal> keep_refusal(Session& session, const NewRefusal& refusal) {
  const UtcTime hour = refusal_hour(refusal.at);
  auto own = read_tally(session, refusal.account_id, hour);
  if (!own) return own.error();
  if (own->counted.kept >= refusal.bounds.per_account) return count_only(session, refusal, *own);
  auto all = read_tally(session, {}, hour);
  if (!all) return all.error();
  if (all->counted.kept >= refusal.bounds.all) return count_only(session, refusal, *all);

  // The hour before stays, for another process whose clock is behind.
  if (!all->is_stored)
    if (const auto done = session.execute(text::kForgetTallies, {hour - limits::kRefusalHour});
        !done)
      return done.error();
  const auto row = insert_refusal(session, refusal);
  if (!row) return row.error();
  for (StoredTally* tally : {&*own, &*all}) {
    ++tally->counted.kept;
    if (const auto written = write_tally(session, *tally); !written) return written.error();
  }
  return KeptRefusal{*row, std::nullopt, {}};
}

Result<bool> refusal_landed(Session& session, const NewRefusal& refusal, const KeptRefusal& kept) {
  if (kept.counted_for) {
    const auto tally = read_tally(session, *kept.counted_for, refusal_hour(refusal.at));
    if (!tally) return tally.error();
    return tally->counted.rejected >= kept.tally.rejected &&
           tally->counted.does_not_parse >= kept.tally.does_not_parse;
  }
  const auto found = session.query(text::kFindRefusal, {kept.row, refusal.account_id, refusal.at});
  if (!found) return found.error();
  return !found->empty();
}

}  // namespace coderunner::sql
