#include <array>

#include "fake/routes.h"
#include "fake/subtask.h"

namespace coderunner::fake {
namespace {

// The refusal of a path whose card or subtask is not there.
Reply missing(const Card* card, const Call& call) {
  if (card == nullptr) return missing_card(call.ids[0]);
  return missing_entry("subtask", {{"subtask_id", call.ids[1]}});
}

Reply list_subtasks(Account& account, const Call& call) {
  const Card* card = account.find(call.ids[0]);
  return card == nullptr ? missing_card(call.ids[0]) : data_reply(card->subtasks);
}

Reply create_subtask(Account& account, const Call& call) {
  Card* card = account.find(call.ids[0]);
  if (card == nullptr) return missing_card(call.ids[0]);
  if (auto refusal = add_subtask(account, *card, call.body, call.now)) return *std::move(refusal);
  touch(*card, call.now);
  return data_reply(card->subtasks.back());
}

Reply get_subtask(Account& account, const Call& call) {
  Card* card = account.find(call.ids[0]);
  const Json* subtask = card == nullptr ? nullptr : find_subtask(*card, call.ids[1]);
  return subtask == nullptr ? missing(card, call) : data_reply(*subtask);
}

Reply change_subtask(Account& account, const Call& call) {
  Card* card = account.find(call.ids[0]);
  Json* subtask = card == nullptr ? nullptr : find_subtask(*card, call.ids[1]);
  if (subtask == nullptr) return missing(card, call);
  if (auto refusal = update_subtask(*subtask, call.body, call.now)) return *std::move(refusal);
  touch(*card, call.now);
  return data_reply(*subtask);
}

Reply delete_subtask(Account& account, const Call& call) {
  Card* card = account.find(call.ids[0]);
  if (card == nullptr || !remove_subtask(*card, call.ids[1])) return missing(card, call);
  touch(*card, call.now);
  return no_content();
}

constexpr std::array<Route, 5> kSubtasks{
    {{"GET", "/cards/{id}/subtasks", &list_subtasks},
     {"POST", "/cards/{id}/subtasks", &create_subtask},
     {"GET", "/cards/{id}/subtasks/{id}", &get_subtask},
     {"PATCH", "/cards/{id}/subtasks/{id}", &change_subtask},
     {"DELETE", "/cards/{id}/subtasks/{id}", &delete_subtask}}};

}  // namespace

std::span<const Route> subtask_routes() { return kSubtasks; }

}  // namespace coderunner::fake
