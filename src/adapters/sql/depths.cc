#include "adapters/sql/depths.h"

#include <algorithm>

#include "adapters/sql/statements.h"

namespace coderunner::sql {

void Depths::keep_for(std::uint64_t generation) {
  if (generation == generation_) return;
  generation_ = generation;
  all_ = {};
  own_.clear();
}

Result<int> Depths::in_all(Session& session, int most) {
  return read(all_, session, text::kDepthInAll, {}, most);
}

Result<int> Depths::of_account(Session& session, const AccountId& account, int most) {
  return read(own_[account], session, text::kDepthOfAccount, {account}, most);
}

void Depths::admitted(const AccountId& account) {
  for (Count* count : {&all_, &own_[account]}) {
    if (count->counted_to == 0) continue;  // nobody has asked
    ++count->rows;
    ++count->counted_to;
  }
}

Result<int> Depths::read(Count& count, Session& session, std::string_view text, Values values,
                         int most) {
  const bool is_exact = count.rows < count.counted_to;
  if (!is_exact && count.rows < most) {
    values.push_back(most);
    const auto rows = session.query(text, values);
    if (!rows) return rows.error();
    count = {static_cast<int>(rows->front().number(0)), most};
  }
  return std::min(count.rows, most);
}

}  // namespace coderunner::sql
