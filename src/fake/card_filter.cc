#include "fake/card_filter.h"

#include <algorithm>
#include <array>

#include "fake/card_fields.h"
#include "fake/query.h"

namespace coderunner::fake {
namespace {

struct ListParameter {
  const char* name;
  const char* field;
  bool numbers = true;
};
constexpr std::array<ListParameter, 14> kLists{{{"card_ids", "card_id"},
                                                {"board_ids", "board_id"},
                                                {"workflow_ids", "workflow_id"},
                                                {"column_ids", "column_id"},
                                                {"lane_ids", "lane_id"},
                                                {"sections", "section"},
                                                {"owner_user_ids", "owner_user_id"},
                                                {"type_ids", "type_id"},
                                                {"priorities", "priority"},
                                                {"last_column_ids", "last_column_id"},
                                                {"last_lane_ids", "last_lane_id"},
                                                {"is_blocked", "is_blocked"},
                                                {"custom_ids", "custom_id", false},
                                                {"colors", "color", false}}};

// "?created_from=", "?created_to_date=" and so on.
constexpr std::array<std::array<const char*, 2>, 6> kTimes{
    {{"created", "created_at"},
     {"last_modified", "last_modified"},
     {"in_current_position_since", "in_current_position_since"},
     {"deadline", "deadline"},
     {"archived", "archived_at"},
     {"discarded", "discarded_at"}}};

std::optional<Reply> read_list(const Call& call, const ListParameter& parameter,
                               CardFilter& filter) {
  CardFilter::OneOf wanted{parameter.field, {}};
  for (const std::string_view word : split_list(call.parameter(parameter.name))) {
    if (!parameter.numbers) {
      wanted.values.emplace_back(std::string{parameter.field} == "color"
                                     ? bare_colour(std::string{word})
                                     : std::string{word});
      continue;
    }
    const auto number = whole_number(word);
    if (!number) return invalid_field(parameter.name, "The value must be a list of integers.");
    wanted.values.emplace_back(*number);
  }
  if (!wanted.values.empty()) filter.one_of.push_back(std::move(wanted));
  return std::nullopt;
}

// The bound a parameter gives, as the API shows times; empty where it is not given.
std::optional<Reply> read_bound(const Call& call, const std::string& name, std::string& bound) {
  const std::string_view given = call.parameter(name);
  if (given.empty()) return std::nullopt;
  std::string text{given};
  if (name.ends_with("_date")) text += name.ends_with("_from_date") ? "T00:00:00Z" : "T23:59:59Z";
  const auto time = from_rfc3339(text);
  if (!time) return invalid_field(name, "The value is not a date or a date and time.");
  bound = shown_time(*time);
  return std::nullopt;
}

std::optional<Reply> read_between(const Call& call, CardFilter& filter) {
  for (const auto& [name, field] : kTimes) {
    CardFilter::Between wanted{.field = field};
    for (const char* form : {"", "_date"}) {
      if (auto refusal = read_bound(call, std::string{name} + "_from" + form, wanted.from))
        return refusal;
      if (auto refusal = read_bound(call, std::string{name} + "_to" + form, wanted.to))
        return refusal;
    }
    if (!wanted.from.empty() || !wanted.to.empty()) filter.between.push_back(std::move(wanted));
  }
  return std::nullopt;
}

std::string_view state_of(const Json& fields) {
  if (!fields.at("discarded_at").is_null()) return "discarded";
  return fields.at("archived_at").is_null() ? "active" : "archived";
}

bool lies_between(const Json& value, const CardFilter::Between& wanted) {
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  return text >= wanted.from && (wanted.to.empty() || text <= wanted.to);
}

}  // namespace

std::optional<Reply> read_filter(const Call& call, CardFilter& filter) {
  for (const ListParameter& parameter : kLists)
    if (auto refusal = read_list(call, parameter, filter)) return refusal;
  if (auto refusal = read_between(call, filter)) return refusal;
  const std::string_view state = call.parameter("state");
  if (state.empty()) return std::nullopt;
  if (state != "active" && state != "archived" && state != "discarded")
    return invalid_field("state", "The value must be active, archived or discarded.");
  filter.state = state;
  return std::nullopt;
}

bool passes(const Card& card, const CardFilter& filter) {
  if (state_of(card.fields) != filter.state) return false;
  return std::ranges::all_of(filter.one_of,
                             [&](const CardFilter::OneOf& wanted) {
                               return std::ranges::find(wanted.values,
                                                        card.fields.at(wanted.field)) !=
                                      wanted.values.end();
                             }) &&
         std::ranges::all_of(filter.between, [&](const CardFilter::Between& wanted) {
           return lies_between(card.fields.at(wanted.field), wanted);
         });
}

}  // namespace coderunner::fake
