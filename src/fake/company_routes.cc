#include <array>
#include <utility>

#include "fake/routes.h"
#include "fake/seed.h"

namespace coderunner::fake {
namespace {

Reply found_or_missing(Json entry, const char* what, const char* key, std::int64_t id) {
  if (!entry.is_null()) return data_reply(std::move(entry));
  Json details = Json::object();
  details[key] = id;
  return missing_entry(what, std::move(details));
}

Reply get_me(Account& account, const Call&) {
  Json me = show_users(account.name()).front();
  me["language"] = "en";
  me["timezone"] = "UTC";
  return data_reply(std::move(me));
}

Reply get_api_limits(Account&, const Call& call) {
  return data_reply(Json::array({{{"types", "hourly"}, {"limit", call.per_hour}},
                                 {{"types", "minutely"}, {"limit", call.per_minute}}}));
}

Reply list_users(Account& account, const Call&) { return data_reply(show_users(account.name())); }

Reply get_user(Account& account, const Call& call) {
  return found_or_missing(entry_of(show_users(account.name()), "user_id", call.ids[0]), "user",
                          "user_id", call.ids[0]);
}

Reply list_custom_fields(Account&, const Call&) { return data_reply(show_custom_fields()); }

Reply get_custom_field(Account&, const Call& call) {
  return found_or_missing(entry_of(show_custom_fields(), "field_id", call.ids[0]), "custom field",
                          "field_id", call.ids[0]);
}

Reply list_tags(Account&, const Call&) { return data_reply(show_tags()); }
Reply list_block_reasons(Account&, const Call&) { return data_reply(show_block_reasons()); }

constexpr std::array<Route, 8> kCompany{{{"GET", "/me", &get_me},
                                         {"GET", "/apiLimits", &get_api_limits},
                                         {"GET", "/users", &list_users},
                                         {"GET", "/users/{id}", &get_user},
                                         {"GET", "/customFields", &list_custom_fields},
                                         {"GET", "/customFields/{id}", &get_custom_field},
                                         {"GET", "/tags", &list_tags},
                                         {"GET", "/blockReasons", &list_block_reasons}}};

}  // namespace

std::span<const Route> company_routes() { return kCompany; }

}  // namespace coderunner::fake
