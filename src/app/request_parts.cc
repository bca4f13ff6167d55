#include "app/request_parts.h"

#include <charconv>

#include "base/byte_order_mark.h"

namespace coderunner::app {
std::string media_type(const HttpRequest& request) {
  std::string_view type = request.header("content-type");
  type = type.substr(0, type.find(';'));
  while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
  std::string lower{type};
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

Result<Json> json_object(std::string_view body) {
  body = without_byte_order_mark(body);
  if (body.find('\0') != std::string_view::npos)  // the parser would take it for the end
    return fail(Failure::invalid_input, "the body holds a NUL byte");
  Json json = Json::parse(body, nullptr, false);
  if (json.is_discarded())
    return fail(Failure::invalid_input, "the body is not valid JSON (RFC 8259, UTF-8)");
  if (!json.is_object()) return fail(Failure::invalid_input, "the body must be a JSON object");
  return json;
}

std::optional<FieldError> take_text(const Json& object, const char* name,
                                    std::optional<std::string>& into) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return std::nullopt;
  if (!found->is_string()) return FieldError{name, std::string{name} + " must be a string"};
  into = found->get<std::string>();
  return std::nullopt;
}

std::optional<FieldError> take_flag(const Json& object, const char* name, bool& into) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return std::nullopt;
  if (!found->is_boolean()) return FieldError{name, std::string{name} + " must be true or false"};
  into = found->get<bool>();
  return std::nullopt;
}

}  // namespace coderunner::app
