// What a query's parameters may be: whole numbers, comma-joined lists, a page (facts 1.5). Used by
// the endpoints only. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "domain/limits.h"
#include "fake/routes.h"

namespace coderunner::fake {

std::optional<std::int64_t> whole_number(std::string_view text);
// "3,4"; an empty text is no word.
std::vector<std::string_view> split_list(std::string_view text);

struct Page {
  std::int64_t number = 1;
  std::int64_t size = limits::kFakeDefaultPage;
};
// The refusal of one that is out of range.
std::optional<Reply> read_page(const Call& call, Page& page);

}  // namespace coderunner::fake
