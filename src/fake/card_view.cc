#include "fake/card_view.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "fake/query.h"

namespace coderunner::fake {
namespace {

constexpr std::array<std::string_view, 37> kFields{"card_id",
                                                   "title",
                                                   "description",
                                                   "custom_id",
                                                   "owner_user_id",
                                                   "type_id",
                                                   "size",
                                                   "priority",
                                                   "color",
                                                   "deadline",
                                                   "reporter",
                                                   "created_at",
                                                   "revision",
                                                   "last_modified",
                                                   "in_current_position_since",
                                                   "board_id",
                                                   "workflow_id",
                                                   "column_id",
                                                   "lane_id",
                                                   "section",
                                                   "position",
                                                   "last_column_id",
                                                   "last_lane_id",
                                                   "version_id",
                                                   "archived_at",
                                                   "reason_id",
                                                   "discard_comment",
                                                   "discarded_at",
                                                   "is_blocked",
                                                   "block_reason",
                                                   "current_block_time",
                                                   "current_logged_time",
                                                   "current_cycle_time",
                                                   "child_card_stats",
                                                   "finished_subtask_count",
                                                   "unfinished_subtask_count",
                                                   "comment_count"};

constexpr std::array<std::string_view, 15> kExpand{"custom_fields",
                                                   "stickers",
                                                   "tag_ids",
                                                   "co_owner_ids",
                                                   "watcher_ids",
                                                   "attachments",
                                                   "checked_column_checklist_items",
                                                   "initiative_details",
                                                   "annotations",
                                                   "subtasks",
                                                   "linked_cards",
                                                   "transitions",
                                                   "block_times",
                                                   "logged_times",
                                                   "logged_times_for_child_cards"};

// Null for what the fake does not keep.
Json part_of(const Card& card, std::string_view name) {
  if (name == "custom_fields") return card.custom_fields;
  if (name == "tag_ids") return card.tags;
  if (name == "co_owner_ids") return card.co_owners;
  if (name == "watcher_ids") return card.watchers;
  if (name == "subtasks") return card.subtasks;
  if (name == "linked_cards") return show_links(card);
  if (name == "attachments" || name == "stickers" || name == "annotations") return Json::array();
  return nullptr;
}

std::optional<Reply> read_names(const Call& call, const char* parameter,
                                std::span<const std::string_view> known,
                                std::vector<std::string_view>& names) {
  names = split_list(call.parameter(parameter));
  for (const std::string_view name : names)
    if (std::ranges::find(known, name) == known.end())
      return invalid_field(parameter, "The value \"" + std::string{name} + "\" is not allowed.");
  return std::nullopt;
}

}  // namespace

Json show_links(const Card& card) {
  Json shown = Json::array();
  for (const Link& link : card.links)
    shown.push_back({{"card_id", link.card}, {"link_type", link.type}, {"position", shown.size()}});
  return shown;
}

Json show_card(const Card& card) {
  Json shown = card.fields;
  for (const std::string_view name : kExpand)
    if (Json part = part_of(card, name); !part.is_null())
      shown[std::string{name}] = std::move(part);
  return shown;
}

std::optional<Reply> read_view(const Call& call, CardView& view) {
  if (auto refusal = read_names(call, "fields", kFields, view.fields)) return refusal;
  return read_names(call, "expand", kExpand, view.expand);
}

Json show_listed(const Card& card, const CardView& view) {
  Json shown = view.fields.empty() ? card.fields : Json::object();
  for (const std::string_view name : view.fields)
    if (const auto field = card.fields.find(name); field != card.fields.end())
      shown[std::string{name}] = *field;
  for (const std::string_view name : view.expand)
    if (Json part = part_of(card, name); !part.is_null())
      shown[std::string{name}] = std::move(part);
  return shown;
}

}  // namespace coderunner::fake
