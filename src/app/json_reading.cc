#include "app/json_reading.h"

#include <fmt/format.h>

#include "adapters/log/escape.h"
#include "app/text_table.h"

namespace coderunner::app {

Json parse(std::string_view body) { return Json::parse(body, nullptr, false); }

Json member(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? Json(nullptr) : *found;
}

std::string text_at(const Json& object, const char* name) {
  const Json value = member(object, name);
  if (value.is_string()) return escape_controls(value.get_ref<const std::string&>());
  if (value.is_number_integer()) return fmt::format("{}", value.get<std::int64_t>());
  return {};
}

std::optional<std::int64_t> number_at(const Json& object, const char* name) {
  const Json value = member(object, name);
  return value.is_number_integer() ? std::optional{value.get<std::int64_t>()} : std::nullopt;
}

std::string count_at(const Json& object, const char* name) {
  return fmt::format("{}", number_at(object, name).value_or(0));
}

std::string age_at(const Json& object, const char* name) {
  return human_duration(Millis{number_at(object, name).value_or(0)});
}

std::optional<UtcTime> time_at(const Json& object, const char* name) {
  const Json value = member(object, name);
  if (!value.is_string()) return std::nullopt;
  const auto at = from_rfc3339(value.get_ref<const std::string&>());
  return at ? std::optional{*at} : std::nullopt;
}

}  // namespace coderunner::app
