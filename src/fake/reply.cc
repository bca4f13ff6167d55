#include "fake/reply.h"

#include <fmt/format.h>

namespace coderunner::fake {

Reply error_reply(ApiError error) {
  Reply reply;
  reply.status = error.status;
  reply.body = {{"error",
                 {{"code", std::move(error.code)},
                  {"message", std::move(error.message)},
                  {"reference", std::move(error.reference)},
                  {"details", std::move(error.details)}}}};
  return reply;
}

Reply data_reply(Json data) {
  Reply reply;
  reply.body = Json::object();
  reply.body["data"] = std::move(data);
  return reply;
}

Reply no_content() {
  Reply reply;
  reply.status = 204;
  return reply;
}

Reply missing_card(std::int64_t card) {
  return error_reply({.status = 404,
                      .code = "C101",
                      .message = fmt::format("A card with id {} does not exist.", card),
                      .reference = "GE-C101",
                      .details = {{"card_id", card}}});
}

Reply missing_entry(const std::string& what, Json details) {
  return error_reply({.status = 404,
                      .code = "RNFD",
                      .message = fmt::format("This {} does not exist.", what),
                      .reference = "GE-RNFD",
                      .details = std::move(details)});
}

Reply invalid_field(const std::string& field, const std::string& why) {
  Json details = Json::object();
  details[field] = Json::array({why});
  // The API's reference is random; eight characters of the field's hash are as good and repeat.
  return error_reply(
      {.status = 400,
       .code = "VE02",
       .message = "The parameters in the request body did not pass validation.",
       .reference = fmt::format("{:08x}", std::hash<std::string>{}(field)&0xFFFFFFFFU),
       .details = std::move(details)});
}

Reply method_not_allowed(const std::string& method, const std::string& allowed) {
  Reply reply = error_reply(
      {.status = 405,
       .code = "RMNA",
       .message = fmt::format("The method {} is not allowed for this resource.", method),
       .reference = "GE-RMNA-" + method});
  reply.headers.emplace_back("Allow", allowed);
  return reply;
}

HttpResponse to_response(const Reply& reply) {
  HttpResponse response;
  response.status = reply.status;
  response.headers = reply.headers;
  if (!reply.body.is_null()) {
    response.headers.emplace_back("Content-Type", "application/json");
    response.body = reply.body.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return response;
}

}  // namespace coderunner::fake
