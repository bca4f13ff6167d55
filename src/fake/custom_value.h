// What a card holds in a custom field, as bodies set it: from the fields' own endpoints and from a
// PATCH of the card alike (facts 1.5). Used by the endpoints only.
#pragma once

#include <cstdint>
#include <optional>

#include "fake/account.h"
#include "fake/seed.h"

namespace coderunner::fake {

// `body` holds "value", or of a dropdown "selected_values_to_add_or_update" and
// "selected_value_ids_to_remove". With a refusal the card is as it was.
std::optional<Reply> set_custom_value(Card& card, const CustomField& field, const Json& body);
// Null where the card has no such field.
const Json* find_custom_value(const Card& card, std::int64_t field);
bool remove_custom_value(Card& card, std::int64_t field);

}  // namespace coderunner::fake
