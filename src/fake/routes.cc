#include "fake/routes.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace coderunner::fake {
namespace {

// The first segment of `path`, which loses it and its slash.
std::string_view take_segment(std::string_view& path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  return segment;
}

std::optional<std::int64_t> parse_id(std::string_view text) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || end != text.data() + text.size() || id < 0) return std::nullopt;
  return id;
}

std::optional<std::vector<std::int64_t>> match(std::string_view pattern, std::string_view path) {
  std::vector<std::int64_t> ids;
  while (!pattern.empty() && !path.empty()) {
    const std::string_view wanted = take_segment(pattern), given = take_segment(path);
    if (wanted == "{id}") {
      const auto id = parse_id(given);
      if (!id) return std::nullopt;
      ids.push_back(*id);
    } else if (wanted != given) {
      return std::nullopt;
    }
  }
  if (!pattern.empty() || !path.empty()) return std::nullopt;
  return ids;
}

}  // namespace

std::string_view Call::parameter(std::string_view name) const {
  for (const auto& [key, value] : query)
    if (key == name) return value;
  return {};
}

Found find_route(const std::string& method, std::string_view path) {
  Found found;
  std::string allowed;
  for (const auto family : {card_routes(), comment_routes(), subtask_routes(), card_part_routes(),
                            bulk_routes(), board_routes(), company_routes()}) {
    for (const Route& route : family) {
      auto ids = match(route.pattern, path);
      if (!ids) continue;
      if (route.method == method) return {&route, *std::move(ids), {}};
      allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", route.method);
    }
  }
  found.refusal = allowed.empty() ? error_reply({.status = 404,
                                                 .code = "RNFD",
                                                 .message = "The resource does not exist.",
                                                 .reference = "GE-RNFD"})
                                  : method_not_allowed(method, allowed);
  return found;
}

}  // namespace coderunner::fake
