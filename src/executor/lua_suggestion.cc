#include "executor/lua_suggestion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <lua.hpp>
#include <numeric>

namespace coderunner::executor {
namespace {

constexpr std::size_t kLongestName = 40;
constexpr std::size_t kFarthest = 3;  // edits; beyond them another name is no misspelling

// The field whose value was nil where it was called: "" where `error` says nothing of the kind.
std::string_view called_field(std::string_view error) {
  for (const std::string_view kind : {"(field '", "(method '"}) {
    const std::size_t said = error.find("attempt to call a nil value ");
    const std::size_t at = said == std::string_view::npos ? said : error.find(kind, said);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = error.substr(at + kind.size());
    return rest.substr(0, std::min(rest.find('\''), rest.size()));
  }
  return {};
}

// Levenshtein's, of texts of at most kLongestName bytes.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::array<std::size_t, kLongestName + 1> row{};
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

// Of equally near names the first in order, so that the same script gets the same text.
std::string nearest_name(lua_State* state, std::string_view meant) {
  std::string nearest;
  std::size_t least = std::min(kFarthest, meant.size() / 2) + 1;
  for (lua_pushnil(state); lua_next(state, -2) != 0; lua_pop(state, 1)) {
    if (lua_type(state, -2) != LUA_TSTRING) continue;
    const std::string_view name = lua_tostring(state, -2);
    if (name.size() > kLongestName) continue;
    const std::size_t edits = edits_between(meant, name);
    if (edits > least || (edits == least && (nearest.empty() || name >= nearest))) continue;
    least = edits;
    nearest = name;
  }
  return nearest;
}

}  // namespace

std::string api_suggestion(lua_State* state, std::string_view error, std::string_view source) {
  const std::string field{called_field(error)};
  if (field.empty() || field.size() > kLongestName) return {};
  if (source.find("api." + field) == std::string_view::npos &&
      source.find("api:" + field) == std::string_view::npos)
    return {};
  lua_pushlstring(state, field.data(), field.size());
  const bool exists = lua_rawget(state, -2) != LUA_TNIL;
  lua_pop(state, 1);
  if (exists) return {};
  const std::string nearest = nearest_name(state, field);
  return fmt::format(": there is no api.{}{}", field,
                     nearest.empty() ? "" : fmt::format("; did you mean api.{}?", nearest));
}

}  // namespace coderunner::executor
