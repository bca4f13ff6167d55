#include "app/answers.h"

#include <utility>

namespace coderunner::app {

HttpResponse json_answer(int status, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", std::string{kJsonType}}, {"Cache-Control", "no-store"}},
          .body = std::move(body)};
}

HttpResponse error_answer(int status, const ErrorView& error) {
  HttpResponse response = json_answer(status, error_json(error));
  if (status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

HttpResponse plain_error(int status, std::string message) {
  return error_answer(status, {.code = status, .message = std::move(message)});
}

HttpResponse field_error(const FieldError& error) {
  return error_answer(400, {.code = 400, .message = error.message, .field = error.field});
}

HttpResponse unparsable_answer(const SyntaxError& error, std::optional<ExecutionId> execution) {
  return error_answer(422, {.code = number(ErrorCode::does_not_parse),
                            .message = "the script does not parse: line " +
                                       std::to_string(error.line) + ": " + error.message,
                            .line = error.line,
                            .execution = execution});
}

HttpResponse store_error(const Error& error) {
  const bool unknown = error.kind == Failure::unknown_outcome;
  const bool away = unknown || error.kind == Failure::unavailable || error.kind == Failure::corrupt;
  return error_answer(away ? 503 : 500,
                      {.code = away ? 503 : 500,
                       .message = "the store can not do this now: " + error.message,
                       .outcome_unknown = unknown});
}

HttpResponse method_error(std::string_view method, std::string_view allowed) {
  HttpResponse response = plain_error(
      405, std::string{method} + " is not possible here; " + std::string{allowed} + " is");
  response.headers.emplace_back("Allow", allowed);
  return response;
}

}  // namespace coderunner::app
