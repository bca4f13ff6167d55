// How a card is shown: the details of one, and in a list the fields and additions that the query
// names (facts 1.5). Used by the endpoints only. Pure.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "fake/account.h"
#include "fake/routes.h"

namespace coderunner::fake {

// With everything that hangs on it.
Json show_card(const Card& card);
Json show_links(const Card& card);

struct CardView {
  std::vector<std::string_view> fields;  // into the call's query; empty: all of them
  std::vector<std::string_view> expand;
};
// The refusal of a name that the API does not know.
std::optional<Reply> read_view(const Call& call, CardView& view);
Json show_listed(const Card& card, const CardView& view);

}  // namespace coderunner::fake
