// Blocking a card, from its own endpoint and from a PATCH of the card alike (facts 1.5). Used by
// the endpoints only.
#pragma once

#include <optional>

#include "fake/account.h"

namespace coderunner::fake {

// `body` holds a reason_id, a comment or both. With a refusal the card is as it was.
std::optional<Reply> block_card(Card& card, const Json& body);
bool unblock_card(Card& card);  // false: it was not blocked

}  // namespace coderunner::fake
