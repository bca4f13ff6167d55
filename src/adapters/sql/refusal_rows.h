// The rows of refused submissions and the tallies that bound them (rulings 20, domain
// refusal_tally.h), in the open transaction. Used by the admission face only.
#pragma once

#include <optional>

#include "adapters/sql/session.h"
#include "domain/refusal_tally.h"
#include "seams/store.h"

namespace coderunner::sql {

struct KeptRefusal {
  ExecutionId row;
  std::optional<AccountId> counted_for;  // where the row counts several: whose tally
  RefusalTally tally;                    // that tally after this refusal
};

Result<KeptRefusal> keep_refusal(Session& session, const NewRefusal& refusal);
// The mark it leaves. Of one that was only counted: that so many are counted by now.
Result<bool> refusal_landed(Session& session, const NewRefusal& refusal, const KeptRefusal& kept);

}  // namespace coderunner::sql
