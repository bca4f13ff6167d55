// Which cards GET /cards lists: the query's filters and the state, active unless asked otherwise
// (facts 1.5). Used by the endpoints only. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fake/account.h"
#include "fake/routes.h"

namespace coderunner::fake {

struct CardFilter {
  struct OneOf {
    std::string field;
    std::vector<Json> values;
  };
  struct Between {
    std::string field;
    std::string from, to;  // both inclusive, in the API's own form; empty: open
  };
  std::string state = "active";
  std::vector<OneOf> one_of;
  std::vector<Between> between;
};

// The refusal of a filter that is malformed.
std::optional<Reply> read_filter(const Call& call, CardFilter& filter);
bool passes(const Card& card, const CardFilter& filter);

}  // namespace coderunner::fake
