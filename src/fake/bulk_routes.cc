#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "domain/limits.h"
#include "fake/card_change.h"
#include "fake/card_view.h"
#include "fake/routes.h"

namespace coderunner::fake {
namespace {

// The refusal unless the body holds a list under `name`.
std::optional<Reply> read_list(const Call& call, const char* name, Json& list) {
  if (call.body.is_object()) list = call.body.value(name, Json{});
  if (!list.is_array() || list.empty())
    return invalid_field(name, "A list with something in it is required.");
  if (list.size() > limits::kMaxFakeBulk) return invalid_field(name, "The list is too long.");
  return std::nullopt;
}

Reply not_an_object() { return invalid_field("cards", "Every entry must be an object."); }

Reply keep_all(Account& account, std::vector<CardChange> changes) {
  Json shown = Json::array();
  for (CardChange& change : changes) shown.push_back(show_card(keep(account, std::move(change))));
  return data_reply(std::move(shown));
}

Reply create_many(Account& account, const Call& call) {
  Json cards;
  if (auto refusal = read_list(call, "cards", cards)) return *std::move(refusal);
  std::vector<CardChange> changes;
  for (const Json& entry : cards) {
    if (!entry.is_object()) return not_an_object();
    if (!entry.contains("title")) return invalid_field("title", "The value is required.");
    changes.push_back(new_card(call.now));
    if (auto refusal = apply(account, changes.back(), entry, call.now)) return *std::move(refusal);
  }
  return keep_all(account, std::move(changes));
}

Reply update_many(Account& account, const Call& call) {
  Json cards;
  if (auto refusal = read_list(call, "cards", cards)) return *std::move(refusal);
  std::vector<CardChange> changes;
  for (const Json& entry : cards) {
    if (!entry.is_object()) return not_an_object();
    const Json id = entry.value("card_id", Json{});
    if (!id.is_number_integer()) return invalid_field("card_id", "An integer is required.");
    const Card* card = account.find(id.get<std::int64_t>());
    if (card == nullptr) return missing_card(id.get<std::int64_t>());
    auto at = std::ranges::find_if(
        changes, [&](const CardChange& change) { return change.card.id == card->id; });
    if (at == changes.end()) at = changes.insert(at, CardChange{*card, {}, {}});
    if (auto refusal = apply(account, *at, entry, call.now)) return *std::move(refusal);
  }
  return keep_all(account, std::move(changes));
}

Reply delete_many(Account& account, const Call& call) {
  Json ids;
  if (auto refusal = read_list(call, "card_ids", ids)) return *std::move(refusal);
  for (const Json& id : ids) {
    if (!id.is_number_integer())
      return invalid_field("card_ids", "The value must be a list of integers.");
    if (account.find(id.get<std::int64_t>()) == nullptr)
      return missing_card(id.get<std::int64_t>());
  }
  for (const Json& id : ids) account.erase(id.get<std::int64_t>());
  return no_content();
}

constexpr std::array<Route, 3> kBulk{{{"POST", "/cards/createMany", &create_many},
                                      {"POST", "/cards/updateMany", &update_many},
                                      {"POST", "/cards/deleteMany", &delete_many}}};

}  // namespace

std::span<const Route> bulk_routes() { return kBulk; }

}  // namespace coderunner::fake
