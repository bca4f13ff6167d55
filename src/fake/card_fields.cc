#include "fake/card_fields.h"

#include <algorithm>
#include <array>

#include "fake/account.h"
#include "fake/seed.h"

namespace coderunner::fake {
namespace {

enum class Kind { text, text_or_null, number, number_or_null, user_or_null, colour, time_or_null };

struct Field {
  const char* name;
  Kind kind;
};

// The place, the state and what hangs on a card are set by rules of their own.
constexpr std::array<Field, 10> kSettable{{{"custom_id", Kind::text_or_null},
                                           {"title", Kind::text},
                                           {"owner_user_id", Kind::user_or_null},
                                           {"type_id", Kind::number_or_null},
                                           {"color", Kind::colour},
                                           {"position", Kind::number},
                                           {"description", Kind::text},
                                           {"size", Kind::number_or_null},
                                           {"priority", Kind::number_or_null},
                                           {"deadline", Kind::time_or_null}}};

bool is_hex_colour(const Json& value) {
  if (!value.is_string()) return false;
  const std::string bare = bare_colour(value.get<std::string>());
  return bare.size() == 6 && bare.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// "2026-09-01" or with a time, in any zone; null where it is neither.
Json utc_time(const Json& value) {
  if (!value.is_string()) return nullptr;
  auto text = value.get<std::string>();
  if (text.size() == std::string_view{"2026-09-01"}.size()) text += "T00:00:00Z";
  const auto time = from_rfc3339(text);
  return time ? Json(shown_time(*time)) : Json(nullptr);
}

// What is wrong with the value; null: nothing.
const char* fault_of(const Json& value, Kind kind) {
  const auto unless = [](bool good, const char* fault) { return good ? nullptr : fault; };
  switch (kind) {
    case Kind::text: return unless(value.is_string(), "The value must be a string.");
    case Kind::text_or_null:
      return unless(value.is_string() || value.is_null(), "The value must be a string or null.");
    case Kind::number: return unless(value.is_number_integer(), "The value must be an integer.");
    case Kind::number_or_null:
      return unless(value.is_number() || value.is_null(), "The value must be a number or null.");
    case Kind::user_or_null:
      return unless(
          value.is_null() || (value.is_number_integer() && is_user(value.get<std::int64_t>())),
          "The value must be the id of a user or null.");
    case Kind::colour:
      return unless(is_hex_colour(value), "The value must be six hexadecimal characters.");
    case Kind::time_or_null:
      return unless(value.is_null() || !utc_time(value).is_null(),
                    "The value must be a date, a date and time, or null.");
  }
  return nullptr;
}

Json shown_value(const Json& value, Kind kind) {
  if (kind == Kind::colour) return bare_colour(value.get<std::string>());
  if (kind == Kind::time_or_null) return utc_time(value);
  return value;
}

std::optional<Reply> set_plain_fields(Json& fields, const Json& body) {
  for (const Field& field : kSettable) {
    const auto given = body.find(field.name);
    if (given == body.end()) continue;
    if (const char* fault = fault_of(*given, field.kind)) return invalid_field(field.name, fault);
    fields[field.name] = shown_value(*given, field.kind);
  }
  return std::nullopt;
}

void put_in(Json& fields, const Column& column) {
  fields["board_id"] = column.board;
  fields["workflow_id"] = column.workflow;
  fields["section"] = column.section;
  fields["column_id"] = column.id;
}

bool is_column(std::int64_t id) { return find_column(id) != nullptr; }
bool is_lane(std::int64_t id) { return find_lane(id) != nullptr; }

// A column of another workflow takes the card to that one's first lane unless a lane is named.
std::optional<Reply> set_place(Json& fields, const Json& body) {
  if (!body.contains("column_id") && !body.contains("lane_id")) return std::nullopt;
  if (auto refusal = refuse_unless_id(body, "column_id", &is_column)) return refusal;
  if (auto refusal = refuse_unless_id(body, "lane_id", &is_lane)) return refusal;
  if (fields.at("column_id").is_null())
    return invalid_field("column_id", "The card is archived or discarded.");
  if (const auto given = body.find("column_id"); given != body.end()) {
    const Column& column = *find_column(given->get<std::int64_t>());
    if (fields.at("workflow_id") != column.workflow)
      fields["lane_id"] = first_lane(column.workflow)->id;
    put_in(fields, column);
  }
  if (const auto given = body.find("lane_id"); given != body.end()) {
    if (fields.at("workflow_id") != find_lane(given->get<std::int64_t>())->workflow)
      return invalid_field("lane_id", "The lane is not one of the column's workflow.");
    fields["lane_id"] = *given;
  }
  return std::nullopt;
}

bool flag_is(const Json& body, const char* name, int value) {
  const auto given = body.find(name);
  return given != body.end() && *given == value;
}

// Out of the archive or the discarded, back to where it was.
void restore(Json& fields, const Json& body) {
  if (flag_is(body, "is_archived", 0)) fields["archived_at"] = nullptr;
  if (flag_is(body, "is_discarded", 0))
    for (const char* name : {"discarded_at", "reason_id", "discard_comment"})
      fields[name] = nullptr;
  if (!fields.at("column_id").is_null() || !fields.at("archived_at").is_null() ||
      !fields.at("discarded_at").is_null())
    return;
  fields["column_id"] = std::exchange(fields["last_column_id"], nullptr);
  fields["lane_id"] = std::exchange(fields["last_lane_id"], nullptr);
}

void retire(Json& fields, const Json& body, UtcTime now) {
  const bool archives = flag_is(body, "is_archived", 1);
  const bool discards = flag_is(body, "is_discarded", 1);
  if (!archives && !discards) return;
  fields[discards ? "discarded_at" : "archived_at"] = shown_time(now);
  if (discards) {
    fields["reason_id"] = body.value("discard_reason_id", Json{});
    fields["discard_comment"] = body.value("discard_comment", Json{});
  }
  if (fields.at("column_id").is_null()) return;
  fields["last_column_id"] = std::exchange(fields["column_id"], nullptr);
  fields["last_lane_id"] = std::exchange(fields["lane_id"], nullptr);
}

}  // namespace

Json new_card_fields(UtcTime now) {
  const std::string time = shown_time(now);
  Json fields{{"card_id", nullptr},
              {"custom_id", nullptr},
              {"board_id", nullptr},
              {"workflow_id", nullptr},
              {"title", ""},
              {"owner_user_id", nullptr},
              {"type_id", nullptr},
              {"color", "34a97b"},
              {"section", nullptr},
              {"column_id", nullptr},
              {"lane_id", 1},
              {"position", 0},
              {"description", ""},
              {"size", nullptr},
              {"priority", nullptr},
              {"deadline", nullptr},
              {"reporter", {{"type", "internal"}, {"value", 1}}},
              {"created_at", time},
              {"revision", 0},
              {"last_modified", time},
              {"in_current_position_since", time},
              {"is_blocked", 0},
              {"block_reason", nullptr},
              {"child_card_stats", nullptr},
              {"finished_subtask_count", 0},
              {"unfinished_subtask_count", 0},
              {"comment_count", 0},
              {"last_column_id", nullptr},
              {"last_lane_id", nullptr},
              {"version_id", nullptr},
              {"archived_at", nullptr},
              {"reason_id", nullptr},
              {"discard_comment", nullptr},
              {"discarded_at", nullptr}};
  put_in(fields, *find_column(1));
  return fields;
}

std::optional<Reply> set_card_fields(Json& fields, const Json& body, UtcTime now) {
  for (const char* flag : {"is_archived", "is_discarded"})
    if (auto refusal = refuse_unless_flag(body, flag)) return refusal;
  const auto place = [](const Json& of) {
    return std::array{of.at("column_id"), of.at("lane_id"), of.at("position")};
  };
  Json changed = fields;
  if (auto refusal = set_plain_fields(changed, body)) return refusal;
  restore(changed, body);
  if (auto refusal = set_place(changed, body)) return refusal;
  retire(changed, body, now);
  if (place(changed) != place(fields)) changed["in_current_position_since"] = shown_time(now);
  fields = std::move(changed);
  return std::nullopt;
}

std::string bare_colour(std::string colour) {
  if (colour.starts_with('#')) colour.erase(0, 1);
  for (char& c : colour)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return colour;
}

std::optional<Reply> refuse_unless_id(const Json& body, const std::string& name,
                                      bool (*known)(std::int64_t id)) {
  const auto given = body.find(name);
  if (given == body.end()) return std::nullopt;
  if (!given->is_number_integer()) return invalid_field(name, "The value must be an integer.");
  if (!known(given->get<std::int64_t>()))
    return invalid_field(name, "There is nothing with this id.");
  return std::nullopt;
}

std::optional<Reply> refuse_unless_flag(const Json& body, const std::string& name) {
  const auto given = body.find(name);
  if (given == body.end() || *given == 0 || *given == 1) return std::nullopt;
  return invalid_field(name, "The value must be 0 or 1.");
}

}  // namespace coderunner::fake
