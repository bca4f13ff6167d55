#include "fake/subtask.h"

#include <algorithm>

#include "fake/card_fields.h"
#include "fake/seed.h"

namespace coderunner::fake {

std::optional<Reply> add_subtask(Account& account, Card& card, const Json& body, UtcTime now) {
  if (!body.is_object() || !body.contains("description"))
    return invalid_field("description", "A string is required.");
  Json subtask{{"subtask_id", nullptr},       {"description", ""},
               {"owner_user_id", nullptr},    {"finished_at", nullptr},
               {"deadline", nullptr},         {"position", card.subtasks.size()},
               {"attachments", Json::array()}};
  if (auto refusal = update_subtask(subtask, body, now)) return refusal;
  subtask["subtask_id"] = account.next_subtask();
  card.subtasks.push_back(std::move(subtask));
  keep_newest(card.subtasks);
  return std::nullopt;
}

std::optional<Reply> update_subtask(Json& subtask, const Json& body, UtcTime now) {
  if (!body.is_object()) return std::nullopt;
  const auto description = body.find("description"), position = body.find("position"),
             owner = body.find("owner_user_id");
  if (description != body.end() && !description->is_string())
    return invalid_field("description", "The value must be a string.");
  if (position != body.end() && !position->is_number_integer())
    return invalid_field("position", "The value must be an integer.");
  if (owner != body.end() && !owner->is_null())
    if (auto refusal = refuse_unless_id(body, "owner_user_id", &is_user)) return refusal;
  if (auto refusal = refuse_unless_flag(body, "is_finished")) return refusal;
  for (const char* name : {"description", "position", "owner_user_id"})
    if (const auto given = body.find(name); given != body.end()) subtask[name] = *given;
  const auto finished = body.find("is_finished");
  if (finished == body.end()) return std::nullopt;
  if (*finished == 0)
    subtask["finished_at"] = nullptr;
  else if (subtask.at("finished_at").is_null())
    subtask["finished_at"] = shown_time(now);
  return std::nullopt;
}

Json* find_subtask(Card& card, std::int64_t subtask) {
  const auto at = std::ranges::find_if(
      card.subtasks, [&](const Json& known) { return known.at("subtask_id") == subtask; });
  return at == card.subtasks.end() ? nullptr : &*at;
}

bool remove_subtask(Card& card, std::int64_t subtask) {
  return std::erase_if(card.subtasks,
                       [&](const Json& known) { return known.at("subtask_id") == subtask; }) > 0;
}

}  // namespace coderunner::fake
