#include <algorithm>
#include <array>
#include <optional>

#include "fake/routes.h"

namespace coderunner::fake {
namespace {

// The comment a path names, on its card; else the refusal.
struct Found {
  Card* card = nullptr;
  Json* comment = nullptr;
  Reply refusal;
};

Found find(Account& account, const Call& call) {
  Found found;
  found.card = account.find(call.ids[0]);
  if (found.card == nullptr) {
    found.refusal = missing_card(call.ids[0]);
    return found;
  }
  const auto at = std::ranges::find_if(found.card->comments, [&](const Json& comment) {
    return comment.at("comment_id") == call.ids[1];
  });
  if (at != found.card->comments.end())
    found.comment = &*at;
  else
    found.refusal = missing_entry("comment", {{"comment_id", call.ids[1]}});
  return found;
}

std::optional<std::string> text_of(const Call& call) {
  if (!call.body.is_object()) return std::nullopt;
  const auto given = call.body.find("text");
  if (given == call.body.end() || !given->is_string()) return std::nullopt;
  return given->get<std::string>();
}

Reply text_missing() { return invalid_field("text", "A string is required."); }

Reply list_comments(Account& account, const Call& call) {
  const Card* card = account.find(call.ids[0]);
  return card == nullptr ? missing_card(call.ids[0]) : data_reply(card->comments);
}

Reply create_comment(Account& account, const Call& call) {
  Card* card = account.find(call.ids[0]);
  if (card == nullptr) return missing_card(call.ids[0]);
  const auto text = text_of(call);
  if (!text) return text_missing();
  card->comments.push_back({{"comment_id", account.next_comment()},
                            {"type", "plain"},
                            {"text", *text},
                            {"attachments", Json::array()},
                            {"created_at", shown_time(call.now)},
                            {"last_modified", shown_time(call.now)},
                            {"author", {{"type", "internal"}, {"value", 1}}}});
  keep_newest(card->comments);
  touch(*card, call.now);
  return data_reply(card->comments.back());
}

Reply get_comment(Account& account, const Call& call) {
  Found found = find(account, call);
  return found.comment == nullptr ? std::move(found.refusal) : data_reply(*found.comment);
}

Reply update_comment(Account& account, const Call& call) {
  Found found = find(account, call);
  if (found.comment == nullptr) return std::move(found.refusal);
  const auto text = text_of(call);
  if (!text) return text_missing();
  (*found.comment)["text"] = *text;
  (*found.comment)["last_modified"] = shown_time(call.now);
  touch(*found.card, call.now);
  return data_reply(*found.comment);
}

Reply delete_comment(Account& account, const Call& call) {
  Found found = find(account, call);
  if (found.comment == nullptr) return std::move(found.refusal);
  auto& comments = found.card->comments;
  comments.erase(comments.begin() + (found.comment - comments.data()));
  touch(*found.card, call.now);
  return no_content();
}

constexpr std::array<Route, 5> kComments{
    {{"GET", "/cards/{id}/comments", &list_comments},
     {"POST", "/cards/{id}/comments", &create_comment},
     {"GET", "/cards/{id}/comments/{id}", &get_comment},
     {"PATCH", "/cards/{id}/comments/{id}", &update_comment},
     {"DELETE", "/cards/{id}/comments/{id}", &delete_comment}}};

}  // namespace

std::span<const Route> comment_routes() { return kComments; }

}  // namespace coderunner::fake
