#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "domain/limits.h"
#include "fake/routes.h"

namespace coderunner::fake {
namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Page {
  std::int64_t number = 1;
  std::int64_t size = limits::kFakeDefaultPage;
};

std::optional<Reply> read_page(const Call& call, Page& page) {
  struct Bound {
    const char* name;
    std::int64_t& value;
    std::int64_t most;
  };
  const std::array<Bound, 2> bounds{
      {{"page", page.number, INT32_MAX}, {"per_page", page.size, limits::kFakeMaxPage}}};
  for (const Bound& bound : bounds) {
    const std::string_view given = call.parameter(bound.name);
    if (given.empty()) continue;
    const auto value = whole_number(given);
    if (!value || *value < 1 || *value > bound.most)
      return invalid_field(bound.name, "The value is out of range.");
    bound.value = *value;
  }
  return std::nullopt;
}

struct Filter {
  const char* field;
  std::vector<std::int64_t> values;
};

// "?column_ids=3,4": arrays are comma-joined (facts 1.5).
std::optional<Reply> read_filters(const Call& call, std::vector<Filter>& filters) {
  constexpr std::array<std::array<const char*, 2>, 4> kFilters{{{"card_ids", "card_id"},
                                                                {"board_ids", "board_id"},
                                                                {"column_ids", "column_id"},
                                                                {"lane_ids", "lane_id"}}};
  for (const auto& [name, field] : kFilters) {
    std::string_view rest = call.parameter(name);
    if (rest.empty()) continue;
    Filter filter{field, {}};
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, rest.find(','));
      const auto value = whole_number(part);
      if (!value) return invalid_field(name, "The value must be a list of integers.");
      filter.values.push_back(*value);
      rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    }
    filters.push_back(std::move(filter));
  }
  return std::nullopt;
}

bool passes(const Json& card, const std::vector<Filter>& filters) {
  return std::ranges::all_of(filters, [&](const Filter& filter) {
    return std::ranges::find(filter.values, card.at(filter.field).get<std::int64_t>()) !=
           filter.values.end();
  });
}

Reply list_cards(Account& account, const Call& call) {
  Page page;
  std::vector<Filter> filters;
  if (auto refusal = read_page(call, page)) return *std::move(refusal);
  if (auto refusal = read_filters(call, filters)) return *std::move(refusal);
  Json shown = Json::array();
  std::int64_t seen = 0;
  const std::int64_t first = (page.number - 1) * page.size;
  for (const auto& [id, card] : account.cards()) {
    if (!passes(card.fields, filters)) continue;
    if (seen >= first && seen < first + page.size) shown.push_back(card.fields);
    ++seen;
  }
  Json pagination{{"all_pages", std::max<std::int64_t>(1, (seen + page.size - 1) / page.size)},
                  {"current_page", page.number},
                  {"results_per_page", page.size}};
  Json data = Json::object();
  data["pagination"] = std::move(pagination);
  data["data"] = std::move(shown);
  return data_reply(std::move(data));
}

Reply create_card(Account& account, const Call& call) {
  if (!call.body.is_object() || !call.body.contains("title"))
    return invalid_field("title", "The value is required.");
  if (auto refusal = refuse_card_fields(call.body)) return *std::move(refusal);
  return data_reply(Json::array({account.create(call.body, call.now).fields}));
}

Reply get_card(Account& account, const Call& call) {
  const Card* card = account.find(call.ids[0]);
  if (card == nullptr) return missing_card(call.ids[0]);
  Json shown = card->fields;
  shown["subtasks"] = card->subtasks;
  return data_reply(std::move(shown));
}

Reply update_card(Account& account, const Call& call) {
  Card* card = account.find(call.ids[0]);
  if (card == nullptr) return missing_card(call.ids[0]);
  const Json changes = call.body.is_object() ? call.body : Json::object();
  if (auto refusal = refuse_card_fields(changes)) return *std::move(refusal);
  Account::update(*card, changes, call.now);
  return data_reply(Json::array({card->fields}));
}

Reply delete_card(Account& account, const Call& call) {
  if (account.find(call.ids[0]) == nullptr) return missing_card(call.ids[0]);
  account.erase(call.ids[0]);
  return no_content();
}

Reply list_comments(Account& account, const Call& call) {
  const Card* card = account.find(call.ids[0]);
  return card == nullptr ? missing_card(call.ids[0]) : data_reply(card->comments);
}

Reply list_subtasks(Account& account, const Call& call) {
  const Card* card = account.find(call.ids[0]);
  return card == nullptr ? missing_card(call.ids[0]) : data_reply(card->subtasks);
}

// The string a body must hold under `name`.
std::optional<std::string> required_text(const Call& call, const char* name) {
  if (!call.body.is_object()) return std::nullopt;
  const auto given = call.body.find(name);
  if (given == call.body.end() || !given->is_string()) return std::nullopt;
  return given->get<std::string>();
}

Reply create_comment(Account& account, const Call& call) {
  Card* card = account.find(call.ids[0]);
  if (card == nullptr) return missing_card(call.ids[0]);
  const auto text = required_text(call, "text");
  if (!text) return invalid_field("text", "A string is required.");
  return data_reply(account.add_comment(*card, *text, call.now));
}

Reply create_subtask(Account& account, const Call& call) {
  Card* card = account.find(call.ids[0]);
  if (card == nullptr) return missing_card(call.ids[0]);
  const auto description = required_text(call, "description");
  if (!description) return invalid_field("description", "A string is required.");
  return data_reply(account.add_subtask(*card, *description));
}

constexpr std::array<Route, 9> kCards{{{"GET", "/cards", &list_cards},
                                       {"POST", "/cards", &create_card},
                                       {"GET", "/cards/{id}", &get_card},
                                       {"PATCH", "/cards/{id}", &update_card},
                                       {"DELETE", "/cards/{id}", &delete_card},
                                       {"GET", "/cards/{id}/comments", &list_comments},
                                       {"POST", "/cards/{id}/comments", &create_comment},
                                       {"GET", "/cards/{id}/subtasks", &list_subtasks},
                                       {"POST", "/cards/{id}/subtasks", &create_subtask}}};

}  // namespace

std::span<const Route> card_routes() { return kCards; }

}  // namespace coderunner::fake
