#include "fake/account.h"

#include <array>

#include "domain/limits.h"

namespace coderunner::fake {
namespace {

enum class Kind { text, number, number_or_null, text_or_null, colour };

struct Field {
  std::string_view name;
  Kind kind;
  std::string_view initial;  // JSON
};

// What POST and PATCH may set, in the order in which the API shows it.
constexpr std::array<Field, 16> kSettable{{{"custom_id", Kind::text_or_null, "null"},
                                           {"board_id", Kind::number, "1"},
                                           {"workflow_id", Kind::number, "1"},
                                           {"title", Kind::text, R"("")"},
                                           {"owner_user_id", Kind::number_or_null, "null"},
                                           {"type_id", Kind::number_or_null, "null"},
                                           {"color", Kind::colour, R"("34a97b")"},
                                           {"section", Kind::number, "2"},
                                           {"column_id", Kind::number, "1"},
                                           {"lane_id", Kind::number, "1"},
                                           {"position", Kind::number, "0"},
                                           {"description", Kind::text, R"("")"},
                                           {"size", Kind::number_or_null, "null"},
                                           {"priority", Kind::number_or_null, "null"},
                                           {"deadline", Kind::text_or_null, "null"},
                                           {"reporter", Kind::text_or_null, "null"}}};

bool fits(const Json& value, Kind kind) {
  switch (kind) {
    case Kind::text:
    case Kind::colour: return value.is_string();
    case Kind::number: return value.is_number_integer();
    case Kind::number_or_null: return value.is_number() || value.is_null();
    case Kind::text_or_null: return value.is_string() || value.is_null();
  }
  return false;
}

std::string_view wanted(Kind kind) {
  switch (kind) {
    case Kind::text:
    case Kind::colour: return "The value must be a string.";
    case Kind::number: return "The value must be an integer.";
    case Kind::number_or_null: return "The value must be a number or null.";
    case Kind::text_or_null: return "The value must be a string or null.";
  }
  return {};
}

// Taken with "#" and in any case, shown as bare lower-case hex (facts 1.5).
std::string bare_colour(std::string colour) {
  if (colour.starts_with('#')) colour.erase(0, 1);
  for (char& c : colour)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return colour;
}

void set_fields(Json& card, const Json& fields) {
  for (const Field& field : kSettable) {
    const auto given = fields.find(field.name);
    if (given == fields.end()) continue;
    card[std::string{field.name}] =
        field.kind == Kind::colour ? Json(bare_colour(given->get<std::string>())) : *given;
  }
}

void keep_newest(std::vector<Json>& parts) {
  if (parts.size() > limits::kMaxFakeCardParts) parts.erase(parts.begin());
}

}  // namespace

std::optional<Reply> refuse_card_fields(const Json& body) {
  for (const Field& field : kSettable) {
    const auto given = body.find(field.name);
    if (given != body.end() && !fits(*given, field.kind))
      return invalid_field(std::string{field.name}, std::string{wanted(field.kind)});
  }
  return std::nullopt;
}

Card* Account::find(std::int64_t card) {
  const auto found = cards_.find(card);
  return found == cards_.end() ? nullptr : &found->second;
}

Card& Account::create(const Json& fields, UtcTime now) {
  if (cards_.size() >= limits::kMaxFakeCards) cards_.erase(cards_.begin());
  Card& card = cards_[++last_card_];
  card.fields = {{"card_id", last_card_}};
  for (const Field& field : kSettable)
    card.fields[std::string{field.name}] = Json::parse(field.initial);
  set_fields(card.fields, fields);
  card.fields["created_at"] = card.fields["last_modified"] = to_rfc3339(now);
  card.fields["in_current_position_since"] = to_rfc3339(now);
  card.fields["revision"] = 1;
  card.fields["is_blocked"] = 0;
  return card;
}

void Account::update(Card& card, const Json& fields, UtcTime now) {
  const auto place = [&] {
    return std::array{card.fields["column_id"], card.fields["lane_id"], card.fields["position"]};
  };
  const auto before = place();
  set_fields(card.fields, fields);
  card.fields["last_modified"] = to_rfc3339(now);
  if (place() != before) card.fields["in_current_position_since"] = to_rfc3339(now);
  card.fields["revision"] = card.fields["revision"].get<std::int64_t>() + 1;
}

const Json& Account::add_comment(Card& card, const std::string& text, UtcTime now) {
  card.comments.push_back({{"comment_id", ++last_comment_},
                           {"type", "plain"},
                           {"text", text},
                           {"attachments", Json::array()},
                           {"created_at", to_rfc3339(now)},
                           {"last_modified", to_rfc3339(now)},
                           {"author", {{"type", "internal"}, {"value", 1}}}});
  keep_newest(card.comments);
  return card.comments.back();
}

const Json& Account::add_subtask(Card& card, const std::string& description) {
  card.subtasks.push_back({{"subtask_id", ++last_subtask_},
                           {"description", description},
                           {"owner_user_id", nullptr},
                           {"finished_at", nullptr},
                           {"deadline", nullptr},
                           {"position", card.subtasks.size()},
                           {"attachments", Json::array()}});
  keep_newest(card.subtasks);
  return card.subtasks.back();
}

}  // namespace coderunner::fake
