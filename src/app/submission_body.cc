#include "app/submission_body.h"

#include <string>
#include <utility>

#include "app/answers.h"
#include "app/json_views.h"
#include "app/request_parts.h"

namespace coderunner::app {
namespace {

using Source = std::variant<std::optional<std::string>, HttpResponse>;

Source source_in_form(std::string_view body) {
  auto pairs = parse_form(body);
  if (!pairs) return plain_error(400, "the form body has a malformed escape");
  std::optional<std::string> source;
  for (auto& [name, value] : *pairs)
    if (name == "source") source = std::move(value);
  return source;
}

Source source_in_json(std::string_view body) {
  const auto json = json_object(body);
  if (!json) return plain_error(400, json.error().message);
  std::optional<std::string> source;
  if (const auto error = take_text(*json, "source", source)) return field_error(*error);
  return source;
}

}  // namespace

std::optional<HttpResponse> media_type_error(const HttpRequest& request) {
  const std::string type = media_type(request);
  if (type == kJsonType || type == kFormType || type.empty()) return std::nullopt;
  return plain_error(415, "send application/json or application/x-www-form-urlencoded");
}

std::variant<SubmissionFields, HttpResponse> read_submission(const HttpRequest& request) {
  if (auto error = media_type_error(request)) return *std::move(error);
  auto decoded = media_type(request) == kFormType ? submission_from_form(request.body)
                                                  : submission_from_json(request.body);
  if (const auto* error = std::get_if<Error>(&decoded)) return plain_error(400, error->message);
  if (const auto* error = std::get_if<FieldError>(&decoded)) return field_error(*error);
  return std::get<SubmissionFields>(std::move(decoded));
}

std::variant<std::string, HttpResponse> read_source(const HttpRequest& request) {
  if (auto error = media_type_error(request)) return *std::move(error);
  Source read = media_type(request) == kFormType ? source_in_form(request.body)
                                                 : source_in_json(request.body);
  if (auto* error = std::get_if<HttpResponse>(&read)) return std::move(*error);
  auto& source = std::get<std::optional<std::string>>(read);
  if (!source || source->empty())
    return field_error({"source", "source is missing; send the script's text"});
  return *std::move(source);
}

}  // namespace coderunner::app
