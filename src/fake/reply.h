// What an endpoint of the fake API answers, before quotas and faults dress it: the shapes of facts
// 1.3 to 1.5. Used within fake/ only.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/http_server/http.h"

namespace coderunner::fake {

using Json = nlohmann::ordered_json;

struct Reply {
  int status = 200;
  Json body;  // null: none is sent
  std::vector<std::pair<std::string, std::string>> headers;
  friend bool operator==(const Reply&, const Reply&) = default;
};

struct ApiError {
  int status = 400;
  std::string code;  // four characters
  std::string message;
  std::string reference;
  Json details = Json::object();
};

Reply error_reply(ApiError error);
Reply data_reply(Json data);  // 200 {"data": …}
Reply no_content();           // 204
Reply missing_card(std::int64_t card);
// 404 of anything but a card; its code is made up, none is published.
Reply missing_entry(const std::string& what, Json details);
Reply invalid_field(const std::string& field, const std::string& why);
Reply method_not_allowed(const std::string& method, const std::string& allowed);

HttpResponse to_response(const Reply& reply);

}  // namespace coderunner::fake
