#include "fake/seed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace coderunner::fake {
namespace {

constexpr std::int64_t kWorkspace = 1;

constexpr std::array<Board, 2> kBoards{{{1, "Main board"}, {7, "Support"}}};

constexpr std::array<Column, 9> kColumns{{{1, 1, 1, 1, 0, "Backlog"},
                                          {2, 1, 1, 2, 0, "Requested"},
                                          {3, 1, 1, 3, 0, "In progress"},
                                          {4, 1, 1, 3, 1, "Review"},
                                          {5, 1, 1, 4, 0, "Done"},
                                          {71, 7, 7, 1, 0, "Backlog"},
                                          {72, 7, 7, 2, 0, "Requested"},
                                          {73, 7, 7, 3, 0, "In progress"},
                                          {74, 7, 7, 4, 0, "Done"}}};

constexpr std::array<Lane, 3> kLanes{
    {{1, 1, 1, 0, "Standard"}, {2, 1, 1, 1, "Expedite"}, {71, 7, 7, 0, "Standard"}}};

constexpr std::array<CustomField, 5> kCustomFields{{{1, "Customer", FieldType::text},
                                                    {2, "Effort", FieldType::number},
                                                    {3, "Environment", FieldType::dropdown},
                                                    {4, "Reviewed on", FieldType::date},
                                                    {5, "Ticket", FieldType::link}}};

struct Value {
  std::int64_t field, id;
  std::string_view word;
};
constexpr std::array<Value, 3> kValues{{{3, 1, "test"}, {3, 2, "staging"}, {3, 3, "production"}}};

struct User {
  std::int64_t id;
  std::string_view username, realname;
};
// The first is whose key it is.
constexpr std::array<User, 3> kUsers{
    {{1, "automation", "Automation"}, {2, "ada", "Ada Example"}, {3, "ben", "Ben Example"}}};

struct Label {
  std::int64_t id;
  std::string_view text, colour;
};
constexpr std::array<Label, 3> kTags{
    {{1, "urgent", "d9232c"}, {2, "customer", "2666be"}, {3, "internal", "34a97b"}}};
constexpr std::array<Label, 2> kBlockReasons{
    {{1, "Waiting for the customer", "d9232c"}, {2, "Waiting for another card", "f38a30"}}};

const auto* find_by_id(const auto& rows, std::int64_t id) {
  const auto found = std::ranges::find(rows, id, [](const auto& row) { return row.id; });
  return found == rows.end() ? nullptr : &*found;
}

std::string_view type_word(FieldType type) {
  switch (type) {
    case FieldType::text: return "single_line_text";
    case FieldType::number: return "number";
    case FieldType::date: return "date";
    case FieldType::link: return "link";
    case FieldType::dropdown: return "dropdown";
  }
  return {};
}

Json show_labels(const char* key, std::span<const Label> labels) {
  Json shown = Json::array();
  for (const Label& label : labels)
    shown.push_back({{key, label.id},
                     {"icon_type", 0},
                     {"icon_id", 1},
                     {"label", label.text},
                     {"color", label.colour},
                     {"availability", 0},
                     {"is_enabled", 1}});
  return shown;
}

Json allowed_values(std::int64_t field) {
  Json shown = Json::array();
  for (const Value& value : kValues)
    if (value.field == field)
      shown.push_back({{"value_id", value.id},
                       {"value", value.word},
                       {"position", shown.size()},
                       {"is_default", 0},
                       {"is_enabled", 1}});
  return shown;
}

}  // namespace

const Board* find_board(std::int64_t id) { return find_by_id(kBoards, id); }
const Column* find_column(std::int64_t id) { return find_by_id(kColumns, id); }
const Lane* find_lane(std::int64_t id) { return find_by_id(kLanes, id); }
const CustomField* find_custom_field(std::int64_t id) { return find_by_id(kCustomFields, id); }
bool is_user(std::int64_t id) { return find_by_id(kUsers, id) != nullptr; }
bool is_tag(std::int64_t id) { return find_by_id(kTags, id) != nullptr; }

const Lane* first_lane(std::int64_t workflow) {
  const auto found = std::ranges::find(kLanes, workflow, &Lane::workflow);
  return found == kLanes.end() ? nullptr : &*found;
}

std::string_view dropdown_value(std::int64_t field, std::int64_t value) {
  for (const Value& known : kValues)
    if (known.field == field && known.id == value) return known.word;
  return {};
}

Json show_boards() {
  Json shown = Json::array();
  for (const Board& board : kBoards)
    shown.push_back({{"board_id", board.id},
                     {"workspace_id", kWorkspace},
                     {"is_archived", 0},
                     {"name", board.name},
                     {"description", ""}});
  return shown;
}

// The published schema says "workflow", its requests "workflow_id": both are there.
Json show_columns(std::int64_t board) {
  Json shown = Json::array();
  for (const Column& column : kColumns)
    if (column.board == board)
      shown.push_back({{"column_id", column.id},
                       {"workflow", column.workflow},
                       {"workflow_id", column.workflow},
                       {"section", column.section},
                       {"parent_column_id", nullptr},
                       {"position", column.position},
                       {"name", column.name},
                       {"description", ""},
                       {"color", "42aace"},
                       {"limit", 0},
                       {"cards_per_row", 1},
                       {"flow_type", 0}});
  return shown;
}

Json show_lanes(std::int64_t board) {
  Json shown = Json::array();
  for (const Lane& lane : kLanes)
    if (lane.board == board)
      shown.push_back({{"lane_id", lane.id},
                       {"workflow", lane.workflow},
                       {"workflow_id", lane.workflow},
                       {"parent_lane_id", nullptr},
                       {"position", lane.position},
                       {"name", lane.name},
                       {"description", ""},
                       {"color", "35aab0"}});
  return shown;
}

Json show_workflows(std::int64_t board) {
  return Json::array({{{"workflow_id", board},
                       {"type", 0},
                       {"position", 0},
                       {"is_enabled", 1},
                       {"is_collapsible", 0},
                       {"name", "Cards workflow"}}});
}

Json show_workspaces() {
  return Json::array({{{"workspace_id", kWorkspace},
                       {"type", 1},
                       {"is_archived", 0},
                       {"name", "Main workspace"}}});
}

Json show_users(const std::string& account) {
  Json shown = Json::array();
  for (const User& user : kUsers)
    shown.push_back({{"user_id", user.id},
                     {"email", fmt::format("{}@{}.example", user.username, account)},
                     {"username", user.username},
                     {"realname", user.realname},
                     {"avatar", nullptr},
                     {"is_enabled", 1},
                     {"is_confirmed", 1},
                     {"is_tfa_enabled", 0},
                     {"registration_date", "2023-03-01"}});
  return shown;
}

Json show_custom_fields() {
  Json shown = Json::array();
  for (const CustomField& field : kCustomFields) {
    Json entry{{"field_id", field.id},           {"name", field.name}, {"color", "2666be"},
               {"type", type_word(field.type)},  {"is_immutable", 0},  {"is_always_present", 0},
               {"all_properties_are_locked", 0}, {"availability", 1},  {"is_enabled", 1}};
    if (field.type == FieldType::dropdown) entry["allowed_values"] = allowed_values(field.id);
    shown.push_back(std::move(entry));
  }
  return shown;
}

Json show_tags() { return show_labels("tag_id", kTags); }
Json show_block_reasons() { return show_labels("reason_id", kBlockReasons); }

Json entry_of(const Json& list, const char* key, std::int64_t id) {
  for (const Json& entry : list)
    if (entry.at(key) == id) return entry;
  return nullptr;
}

}  // namespace coderunner::fake
