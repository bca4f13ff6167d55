#include "fake/block.h"

#include "fake/seed.h"

namespace coderunner::fake {

std::optional<Reply> block_card(Card& card, const Json& body) {
  const Json given = body.is_object() ? body : Json::object();
  const Json id = given.value("reason_id", Json{}), comment = given.value("comment", Json{});
  Json reason;
  if (id.is_number_integer())
    reason = entry_of(show_block_reasons(), "reason_id", id.get<std::int64_t>());
  if (!id.is_null() && reason.is_null())
    return invalid_field("reason_id", "There is no such block reason.");
  if (!comment.is_null() && !comment.is_string())
    return invalid_field("comment", "The value must be a string or null.");
  if (reason.is_null() && comment.is_null())
    return invalid_field("reason_id", "A reason or a comment is required.");
  card.fields["is_blocked"] = 1;
  card.fields["block_reason"] = {{"type", reason.is_null() ? 0 : 1},
                                 {"comment", comment},
                                 {"reason", reason},
                                 {"cards", given.value("cards", Json::array())},
                                 {"date", given.value("date", Json{})},
                                 {"users", given.value("users", Json::array())}};
  return std::nullopt;
}

bool unblock_card(Card& card) {
  card.fields["block_reason"] = nullptr;
  return std::exchange(card.fields["is_blocked"], 0) == 1;
}

}  // namespace coderunner::fake
