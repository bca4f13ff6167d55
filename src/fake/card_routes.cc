#include <algorithm>
#include <array>
#include <optional>

#include "fake/card_change.h"
#include "fake/card_filter.h"
#include "fake/card_view.h"
#include "fake/query.h"
#include "fake/routes.h"

namespace coderunner::fake {
namespace {

Reply list_cards(Account& account, const Call& call) {
  Page page;
  CardFilter filter;
  CardView view;
  if (auto refusal = read_page(call, page)) return *std::move(refusal);
  if (auto refusal = read_filter(call, filter)) return *std::move(refusal);
  if (auto refusal = read_view(call, view)) return *std::move(refusal);
  Json shown = Json::array();
  std::int64_t seen = 0;
  const std::int64_t first = (page.number - 1) * page.size;
  for (const auto& [id, card] : account.cards()) {
    if (!passes(card, filter)) continue;
    if (seen >= first && seen < first + page.size) shown.push_back(show_listed(card, view));
    ++seen;
  }
  Json data = Json::object();
  data["pagination"] = {
      {"all_pages", std::max<std::int64_t>(1, (seen + page.size - 1) / page.size)},
      {"current_page", page.number},
      {"results_per_page", page.size}};
  data["data"] = std::move(shown);
  return data_reply(std::move(data));
}

Reply create_card(Account& account, const Call& call) {
  if (!call.body.is_object() || !call.body.contains("title"))
    return invalid_field("title", "The value is required.");
  CardChange change = new_card(call.now);
  if (auto refusal = apply(account, change, call.body, call.now)) return *std::move(refusal);
  return data_reply(Json::array({show_card(keep(account, std::move(change)))}));
}

Reply get_card(Account& account, const Call& call) {
  const Card* card = account.find(call.ids[0]);
  return card == nullptr ? missing_card(call.ids[0]) : data_reply(show_card(*card));
}

Reply update_card(Account& account, const Call& call) {
  const Card* card = account.find(call.ids[0]);
  if (card == nullptr) return missing_card(call.ids[0]);
  CardChange change{*card, {}, {}};
  const Json body = call.body.is_object() ? call.body : Json::object();
  if (auto refusal = apply(account, change, body, call.now)) return *std::move(refusal);
  return data_reply(Json::array({show_card(keep(account, std::move(change)))}));
}

Reply delete_card(Account& account, const Call& call) {
  if (account.find(call.ids[0]) == nullptr) return missing_card(call.ids[0]);
  account.erase(call.ids[0]);
  return no_content();
}

constexpr std::array<Route, 5> kCards{{{"GET", "/cards", &list_cards},
                                       {"POST", "/cards", &create_card},
                                       {"GET", "/cards/{id}", &get_card},
                                       {"PATCH", "/cards/{id}", &update_card},
                                       {"DELETE", "/cards/{id}", &delete_card}}};

}  // namespace

std::span<const Route> card_routes() { return kCards; }

}  // namespace coderunner::fake
