// A card as a body of POST or PATCH would leave it: its own fields and the sub-edits that the body
// carries (facts 1.5). Nothing is changed in the account until the change is kept, so that a
// refused body, or one refused card of many, leaves nothing behind. Used by the endpoints only.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/time.h"
#include "fake/account.h"

namespace coderunner::fake {

struct CardChange {
  Card card;
  std::vector<Link> to_link, to_unlink;
};

CardChange new_card(UtcTime now);
// The refusal of the body's first fault; the change is of no use then. Takes ids from the account.
std::optional<Reply> apply(Account& account, CardChange& change, const Json& body, UtcTime now);
// The card as it is afterwards: a new one has its id then.
const Card& keep(Account& account, CardChange change);

}  // namespace coderunner::fake
