// A card's subtasks as bodies make and change them, from the subtasks' own endpoints and from a
// PATCH of the card alike (facts 1.5). Used by the endpoints only.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "fake/account.h"

namespace coderunner::fake {

// `body` needs a description; the refusal otherwise, and the card is as it was.
std::optional<Reply> add_subtask(Account& account, Card& card, const Json& body, UtcTime now);
std::optional<Reply> update_subtask(Json& subtask, const Json& body, UtcTime now);
// Null where the card has none of this id.
Json* find_subtask(Card& card, std::int64_t subtask);
bool remove_subtask(Card& card, std::int64_t subtask);

}  // namespace coderunner::fake
