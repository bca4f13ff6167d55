// How many rows are queued, as the units of one open transaction know it: counted by the first that
// asks and raised by each admission kept since, because counting is what the depth caps cost. One
// thread at a time, inside units of one commit queue. Must never know anything beyond the
// transaction: other processes write between two of them.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "adapters/sql/session.h"

namespace coderunner::sql {

class Depths {
 public:
  // Forgets all where the generation is another one (CommitQueue::generation).
  void keep_for(std::uint64_t generation);
  // No further than `most`.
  Result<int> in_all(Session& session, int most);
  Result<int> of_account(Session& session, const AccountId& account, int most);
  // The last thing that a unit does: one that fails afterwards would leave a count too high.
  void admitted(const AccountId& account);

 private:
  struct Count {
    int rows = 0;
    int counted_to = 0;  // with as many rows as this there may be more
  };
  static Result<int> read(Count& count, Session& session, std::string_view text, Values values,
                          int most);

  std::uint64_t generation_ = 0;
  Count all_;
  std::map<AccountId, Count> own_;
};

}  // namespace coderunner::sql
