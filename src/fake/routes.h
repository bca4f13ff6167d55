// The fake API's endpoints: which path and method leads where, and what a path without its method
// or without any endpoint answers. One table; a further family of endpoints is a further file and
// its lines here. Used by api.cc only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "fake/account.h"
#include "fake/reply.h"

namespace coderunner::fake {

struct Call {
  std::string method;
  std::string path;               // after /api/v2
  std::vector<std::int64_t> ids;  // the {id} of the path, in order
  std::vector<std::pair<std::string, std::string>> query;
  Json body;  // an object, or null where none was sent; a GET's is ignored (facts 1.5)
  UtcTime now;
  int per_minute = 0, per_hour = 0;  // the key's limits, which GET /apiLimits tells

  std::string_view parameter(std::string_view name) const;  // empty where not given
};

using Endpoint = Reply (*)(Account& account, const Call& call);

struct Route {
  std::string_view method;
  std::string_view pattern;  // "/cards/{id}/comments"
  Endpoint endpoint;
};

// The endpoints of a family, for the table.
std::span<const Route> card_routes();
std::span<const Route> comment_routes();
std::span<const Route> subtask_routes();
std::span<const Route> card_part_routes();  // custom fields, tags, block reason, links
std::span<const Route> bulk_routes();
std::span<const Route> board_routes();    // and workspaces
std::span<const Route> company_routes();  // the key's owner, users, limits, fields, tags

// The route of a call, its ids filled in; null with `refusal` set where there is none.
struct Found {
  const Route* route = nullptr;
  std::vector<std::int64_t> ids;
  Reply refusal;
};
Found find_route(const std::string& method, std::string_view path);

}  // namespace coderunner::fake
