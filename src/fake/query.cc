#include "fake/query.h"

#include <array>
#include <charconv>

namespace coderunner::fake {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> words;
  if (text.empty()) return words;
  while (true) {
    const std::size_t comma = text.find(',');
    words.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return words;
    text.remove_prefix(comma + 1);
  }
}

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

}  // namespace coderunner::fake
