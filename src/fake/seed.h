// What every account of the fake API has from the start, so that scripts have something to work on:
// two boards with their columns and lanes, users, custom fields, tags and block reasons. Fixed; the
// shapes are those of facts 1.5. Used by the endpoints only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "fake/reply.h"

namespace coderunner::fake {

struct Board {
  std::int64_t id;
  std::string_view name;
};

struct Column {
  std::int64_t id, board, workflow;
  int section;  // 1 backlog, 2 requested, 3 in progress, 4 done
  int position;
  std::string_view name;
};

struct Lane {
  std::int64_t id, board, workflow;
  int position;
  std::string_view name;
};

enum class FieldType { text, number, date, link, dropdown };

struct CustomField {
  std::int64_t id;
  std::string_view name;
  FieldType type;
};

// Null where there is none.
const Board* find_board(std::int64_t id);
const Column* find_column(std::int64_t id);
const Lane* find_lane(std::int64_t id);
const Lane* first_lane(std::int64_t workflow);
const CustomField* find_custom_field(std::int64_t id);
bool is_user(std::int64_t id);
bool is_tag(std::int64_t id);
// The word of a dropdown's value; empty where the field has no such value.
std::string_view dropdown_value(std::int64_t field, std::int64_t value);

// As the API lists them.
Json show_boards();
Json show_columns(std::int64_t board);
Json show_lanes(std::int64_t board);
Json show_workflows(std::int64_t board);
Json show_workspaces();
Json show_users(const std::string& account);
Json show_custom_fields();
Json show_tags();
Json show_block_reasons();

// The entry of such a list whose `key` is `id`; null where there is none.
Json entry_of(const Json& list, const char* key, std::int64_t id);

}  // namespace coderunner::fake
