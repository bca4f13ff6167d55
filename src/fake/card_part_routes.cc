#include <algorithm>
#include <array>

#include "fake/block.h"
#include "fake/card_view.h"
#include "fake/custom_value.h"
#include "fake/routes.h"

namespace coderunner::fake {
namespace {

// 404 of the card where it is missing, else of its part.
Reply missing(const Card* card, const Call& call, const char* part, const char* key) {
  if (card == nullptr) return missing_card(call.ids[0]);
  Json details{{"card_id", call.ids[0]}};
  if (call.ids.size() > 1) details[key] = call.ids[1];
  return missing_entry(part, std::move(details));
}

Reply changed(Card& card, const Call& call) {
  touch(card, call.now);
  return no_content();
}

Reply list_values(Account& account, const Call& call) {
  const Card* card = account.find(call.ids[0]);
  return card == nullptr ? missing_card(call.ids[0]) : data_reply(card->custom_fields);
}

Reply get_value(Account& account, const Call& call) {
  const Card* card = account.find(call.ids[0]);
  const Json* value = card == nullptr ? nullptr : find_custom_value(*card, call.ids[1]);
  return value == nullptr ? missing(card, call, "custom field", "field_id") : data_reply(*value);
}

Reply put_value(Account& account, const Call& call) {
  Card* card = account.find(call.ids[0]);
  const CustomField* field = find_custom_field(call.ids[1]);
  if (card == nullptr || field == nullptr) return missing(card, call, "custom field", "field_id");
  if (auto refusal = set_custom_value(*card, *field, call.body)) return *std::move(refusal);
  return changed(*card, call);
}

Reply delete_value(Account& account, const Call& call) {
  Card* card = account.find(call.ids[0]);
  if (card == nullptr || !remove_custom_value(*card, call.ids[1]))
    return missing(card, call, "custom field", "field_id");
  return changed(*card, call);
}

bool has_tag(const Card* card, std::int64_t tag) {
  return card != nullptr && std::ranges::find(card->tags, tag) != card->tags.end();
}

Reply list_tags(Account& account, const Call& call) {
  const Card* card = account.find(call.ids[0]);
  if (card == nullptr) return missing_card(call.ids[0]);
  Json shown = Json::array();
  for (const std::int64_t tag : card->tags)
    shown.push_back({{"card_id", card->id}, {"tag_id", tag}});
  return data_reply(std::move(shown));
}

Reply check_tag(Account& account, const Call& call) {
  const Card* card = account.find(call.ids[0]);
  return has_tag(card, call.ids[1]) ? no_content() : missing(card, call, "tag", "tag_id");
}

Reply put_tag(Account& account, const Call& call) {
  Card* card = account.find(call.ids[0]);
  if (card == nullptr || !is_tag(call.ids[1])) return missing(card, call, "tag", "tag_id");
  if (has_tag(card, call.ids[1])) return no_content();
  card->tags.push_back(call.ids[1]);
  return changed(*card, call);
}

Reply delete_tag(Account& account, const Call& call) {
  Card* card = account.find(call.ids[0]);
  if (!has_tag(card, call.ids[1])) return missing(card, call, "tag", "tag_id");
  std::erase(card->tags, call.ids[1]);
  return changed(*card, call);
}

Reply get_block(Account& account, const Call& call) {
  const Card* card = account.find(call.ids[0]);
  if (card == nullptr || card->fields.at("is_blocked") == 0)
    return missing(card, call, "block reason", "");
  return data_reply(card->fields.at("block_reason"));
}

Reply put_block(Account& account, const Call& call) {
  Card* card = account.find(call.ids[0]);
  if (card == nullptr) return missing_card(call.ids[0]);
  if (auto refusal = block_card(*card, call.body)) return *std::move(refusal);
  return changed(*card, call);
}

Reply delete_block(Account& account, const Call& call) {
  Card* card = account.find(call.ids[0]);
  if (card == nullptr || !unblock_card(*card)) return missing(card, call, "block reason", "");
  return changed(*card, call);
}

Reply list_links(Account& account, const Call& call) {
  const Card* card = account.find(call.ids[0]);
  return card == nullptr ? missing_card(call.ids[0]) : data_reply(show_links(*card));
}

constexpr std::array<Route, 12> kParts{{{"GET", "/cards/{id}/customFields", &list_values},
                                        {"GET", "/cards/{id}/customFields/{id}", &get_value},
                                        {"PUT", "/cards/{id}/customFields/{id}", &put_value},
                                        {"DELETE", "/cards/{id}/customFields/{id}", &delete_value},
                                        {"GET", "/cards/{id}/tags", &list_tags},
                                        {"GET", "/cards/{id}/tags/{id}", &check_tag},
                                        {"PUT", "/cards/{id}/tags/{id}", &put_tag},
                                        {"DELETE", "/cards/{id}/tags/{id}", &delete_tag},
                                        {"GET", "/cards/{id}/blockReason", &get_block},
                                        {"PUT", "/cards/{id}/blockReason", &put_block},
                                        {"DELETE", "/cards/{id}/blockReason", &delete_block},
                                        {"GET", "/cards/{id}/linkedCards", &list_links}}};

}  // namespace

std::span<const Route> card_part_routes() { return kParts; }

}  // namespace coderunner::fake
