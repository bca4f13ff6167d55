#include "fake/custom_value.h"

#include <algorithm>

namespace coderunner::fake {
namespace {

bool is_date(const Json& value) {
  return value.is_string() && from_rfc3339(value.get<std::string>() + "T00:00:00Z").has_value();
}

// What is wrong with the value of a field that is no dropdown; null: nothing.
const char* fault_of(const Json& value, FieldType type) {
  if (value.is_null()) return nullptr;
  switch (type) {
    case FieldType::number:
      return value.is_number() ? nullptr : "The value must be a number or null.";
    case FieldType::date: return is_date(value) ? nullptr : "The value must be a date or null.";
    default: return value.is_string() ? nullptr : "The value must be a string or null.";
  }
}

std::optional<Reply> select_values(Json& chosen, const CustomField& field, const Json& body) {
  const auto without = [&](const Json& id) {
    Json kept = Json::array();
    for (const Json& value : chosen)
      if (value.at("value_id") != id) kept.push_back(value);
    chosen = std::move(kept);
  };
  for (const Json& id : body.value("selected_value_ids_to_remove", Json::array())) without(id);
  for (const Json& entry : body.value("selected_values_to_add_or_update", Json::array())) {
    const Json id = entry.is_object() ? entry.value("value_id", Json{}) : Json{};
    if (!id.is_number_integer() || dropdown_value(field.id, id.get<std::int64_t>()).empty())
      return invalid_field("selected_values_to_add_or_update", "The field has no such value.");
    without(id);
    chosen.push_back({{"value_id", id}, {"position", chosen.size()}});
  }
  return std::nullopt;
}

std::string words_of(const Json& chosen, const CustomField& field) {
  std::string words;
  for (const Json& value : chosen) {
    if (!words.empty()) words += ", ";
    words += dropdown_value(field.id, value.at("value_id").get<std::int64_t>());
  }
  return words;
}

std::optional<Reply> set_dropdown(Json& held, const CustomField& field, const Json& body) {
  Json chosen = held.value("values", Json::array());
  if (auto refusal = select_values(chosen, field, body)) return refusal;
  held["display_value"] = words_of(chosen, field);
  held["values"] = std::move(chosen);
  return std::nullopt;
}

std::optional<Reply> set_single(Json& held, const CustomField& field, const Json& body) {
  const auto given = body.find("value");
  if (given == body.end()) return invalid_field("value", "The value is required.");
  if (const char* fault = fault_of(*given, field.type)) return invalid_field("value", fault);
  held["value"] = *given;
  held["display_value"] = given->is_null()     ? ""
                          : given->is_string() ? given->get<std::string>()
                                               : given->dump();
  return std::nullopt;
}

}  // namespace

std::optional<Reply> set_custom_value(Card& card, const CustomField& field, const Json& body) {
  const Json* present = find_custom_value(card, field.id);
  Json held = present == nullptr ? Json{{"field_id", field.id}} : *present;
  const Json given = body.is_object() ? body : Json::object();
  auto refusal = field.type == FieldType::dropdown ? set_dropdown(held, field, given)
                                                   : set_single(held, field, given);
  if (refusal) return refusal;
  remove_custom_value(card, field.id);
  card.custom_fields.push_back(std::move(held));
  std::ranges::sort(card.custom_fields, {},
                    [](const Json& value) { return value.at("field_id").get<std::int64_t>(); });
  return std::nullopt;
}

const Json* find_custom_value(const Card& card, std::int64_t field) {
  const auto at = std::ranges::find_if(
      card.custom_fields, [&](const Json& value) { return value.at("field_id") == field; });
  return at == card.custom_fields.end() ? nullptr : &*at;
}

bool remove_custom_value(Card& card, std::int64_t field) {
  return std::erase_if(card.custom_fields,
                       [&](const Json& value) { return value.at("field_id") == field; }) > 0;
}

}  // namespace coderunner::fake
