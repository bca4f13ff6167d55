#include "fake/card_change.h"

#include <algorithm>
#include <string>

#include "fake/block.h"
#include "fake/card_fields.h"
#include "fake/custom_value.h"
#include "fake/seed.h"
#include "fake/subtask.h"

namespace coderunner::fake {
namespace {

using Refusal = std::optional<Reply>;

// The same fault, told of the body's own field.
Reply within(const std::string& name, const Reply& refusal) {
  const auto& details = refusal.body.at("error").at("details");
  const auto first = details.items().begin();
  return invalid_field(name, first.key() + ": " + first.value().at(0).get<std::string>());
}

// Calls `edit` with each entry of the list under `name`, where the body has one.
template <typename Edit>
Refusal for_each_entry(const Json& body, const std::string& name, Edit edit) {
  const auto list = body.find(name);
  if (list == body.end()) return std::nullopt;
  if (!list->is_array()) return invalid_field(name, "The value must be an array.");
  for (const Json& entry : *list)
    if (Refusal refusal = edit(entry)) return within(name, *refusal);
  return std::nullopt;
}

// -1, which is nobody's id, for anything but an id.
std::int64_t id_in(const Json& value) {
  return value.is_number_integer() ? value.get<std::int64_t>() : -1;
}

std::int64_t id_under(const Json& entry, const char* name) {
  return entry.is_object() ? id_in(entry.value(name, Json{})) : -1;
}

Reply no_such(const char* what) { return invalid_field(what, "There is nothing with this id."); }

struct IdList {
  const char* name;  // "tag_ids" of tag_ids_to_add and tag_ids_to_remove
  std::vector<std::int64_t> Card::*ids;
  bool (*known)(std::int64_t id);
};

Refusal edit_ids(Card& card, const Json& body, const IdList& list) {
  auto& ids = card.*list.ids;
  const std::string name = list.name;
  Refusal refusal = for_each_entry(body, name + "_to_remove", [&](const Json& entry) -> Refusal {
    std::erase(ids, id_in(entry));
    return std::nullopt;
  });
  if (refusal) return refusal;
  return for_each_entry(body, name + "_to_add", [&](const Json& entry) -> Refusal {
    const std::int64_t id = id_in(entry);
    if (!list.known(id)) return no_such("id");
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
    return std::nullopt;
  });
}

Refusal edit_id_lists(Card& card, const Json& body) {
  for (const IdList& list :
       {IdList{"tag_ids", &Card::tags, &is_tag}, IdList{"co_owner_ids", &Card::co_owners, &is_user},
        IdList{"watcher_ids", &Card::watchers, &is_user}})
    if (Refusal refusal = edit_ids(card, body, list)) return refusal;
  return std::nullopt;
}

Refusal edit_custom_fields(Card& card, const Json& body) {
  Refusal refusal =
      for_each_entry(body, "custom_field_ids_to_remove", [&](const Json& entry) -> Refusal {
        remove_custom_value(card, id_in(entry));
        return std::nullopt;
      });
  if (refusal) return refusal;
  return for_each_entry(body, "custom_fields_to_add_or_update", [&](const Json& entry) -> Refusal {
    const CustomField* field = find_custom_field(id_under(entry, "field_id"));
    return field == nullptr ? no_such("field_id") : set_custom_value(card, *field, entry);
  });
}

Refusal edit_subtasks(Account& account, Card& card, const Json& body, UtcTime now) {
  Refusal refusal =
      for_each_entry(body, "subtask_ids_to_remove", [&](const Json& entry) -> Refusal {
        remove_subtask(card, id_in(entry));
        return std::nullopt;
      });
  if (refusal) return refusal;
  refusal = for_each_entry(body, "subtasks_to_update", [&](const Json& entry) -> Refusal {
    Json* subtask = find_subtask(card, id_under(entry, "subtask_id"));
    return subtask == nullptr ? no_such("subtask_id") : update_subtask(*subtask, entry, now);
  });
  if (refusal) return refusal;
  return for_each_entry(body, "subtasks_to_add",
                        [&](const Json& entry) { return add_subtask(account, card, entry, now); });
}

Refusal read_links(Account& account, const Card& card, const Json& body, const char* name,
                   std::vector<Link>& links) {
  return for_each_entry(body, name, [&](const Json& entry) -> Refusal {
    const std::int64_t other = id_under(entry, "linked_card_id");
    if (other == card.id || account.find(other) == nullptr) return no_such("linked_card_id");
    const Json type = entry.value("link_type", Json{});
    if (!type.is_string() || opposite_link(type.get<std::string>()).empty())
      return invalid_field("link_type", "There is no such link.");
    links.push_back({other, type.get<std::string>()});
    return std::nullopt;
  });
}

Refusal edit_block(Card& card, const Json& body) {
  const auto given = body.find("block_reason");
  if (given == body.end()) return std::nullopt;
  if (given->is_null()) {
    unblock_card(card);
    return std::nullopt;
  }
  if (Refusal refusal = block_card(card, *given)) return within("block_reason", *refusal);
  return std::nullopt;
}

}  // namespace

CardChange new_card(UtcTime now) {
  CardChange change;
  change.card.fields = new_card_fields(now);
  return change;
}

std::optional<Reply> apply(Account& account, CardChange& change, const Json& body, UtcTime now) {
  Card& card = change.card;
  if (auto refusal = set_card_fields(card.fields, body, now)) return refusal;
  if (auto refusal = edit_block(card, body)) return refusal;
  if (auto refusal = edit_id_lists(card, body)) return refusal;
  if (auto refusal = edit_custom_fields(card, body)) return refusal;
  if (auto refusal = edit_subtasks(account, card, body, now)) return refusal;
  if (auto refusal =
          read_links(account, card, body, "links_to_existing_cards_to_remove", change.to_unlink))
    return refusal;
  if (auto refusal = read_links(account, card, body, "links_to_existing_cards_to_add_or_update",
                                change.to_link))
    return refusal;
  touch(card, now);
  return std::nullopt;
}

const Card& keep(Account& account, CardChange change) {
  Card* kept = account.find(change.card.id);
  if (kept == nullptr) {
    kept = &account.add(std::move(change.card));
  } else {
    change.card.links = kept->links;  // another of the same call may have linked it meanwhile
    *kept = std::move(change.card);
  }
  for (const Link& link : change.to_unlink) account.unlink(kept->id, link);
  for (const Link& link : change.to_link) account.link(kept->id, link);
  return *kept;
}

}  // namespace coderunner::fake
