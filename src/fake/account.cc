#include "fake/account.h"

#include <algorithm>
#include <array>

#include "domain/limits.h"

namespace coderunner::fake {

Card* Account::find(std::int64_t card) {
  const auto found = cards_.find(card);
  return found == cards_.end() ? nullptr : &found->second;
}

Card& Account::add(Card card) {
  if (cards_.size() >= limits::kMaxFakeCards) erase(cards_.begin()->first);
  card.id = ++last_card_;
  card.fields["card_id"] = card.id;
  return cards_[card.id] = std::move(card);
}

void Account::erase(std::int64_t card) {
  const auto found = cards_.find(card);
  if (found == cards_.end()) return;
  for (const Link& link : found->second.links)
    if (Card* other = find(link.card))
      std::erase_if(other->links, [&](const Link& back) { return back.card == card; });
  cards_.erase(found);
}

void Account::link(std::int64_t card, const Link& link) {
  Card* from = find(card);
  Card* to = find(link.card);
  if (from == nullptr || to == nullptr) return;
  unlink(card, link);
  for (Card* end : {from, to})
    if (end->links.size() >= limits::kMaxFakeCardParts) unlink(end->id, Link{end->links.front()});
  from->links.push_back(link);
  to->links.push_back({card, std::string{opposite_link(link.type)}});
}

void Account::unlink(std::int64_t card, const Link& link) {
  const Link back{card, std::string{opposite_link(link.type)}};
  if (Card* from = find(card)) std::erase(from->links, link);
  if (Card* to = find(link.card)) std::erase(to->links, back);
}

std::string_view opposite_link(std::string_view type) {
  constexpr std::array<std::array<std::string_view, 2>, 5> kLinks{{{"parent", "child"},
                                                                   {"child", "parent"},
                                                                   {"predecessor", "successor"},
                                                                   {"successor", "predecessor"},
                                                                   {"relative", "relative"}}};
  for (const auto& [name, opposite] : kLinks)
    if (name == type) return opposite;
  return {};
}

std::string shown_time(UtcTime at) {
  std::string text = to_rfc3339(at);
  return text.substr(0, text.find('.')) + "Z";
}

void touch(Card& card, UtcTime now) {
  Json& fields = card.fields;
  fields["revision"] = fields.at("revision").get<std::int64_t>() + 1;
  fields["last_modified"] = shown_time(now);
  const auto finished = std::ranges::count_if(
      card.subtasks, [](const Json& subtask) { return !subtask.at("finished_at").is_null(); });
  fields["finished_subtask_count"] = finished;
  fields["unfinished_subtask_count"] = std::ssize(card.subtasks) - finished;
  fields["comment_count"] = card.comments.size();
}

void keep_newest(std::vector<Json>& parts) {
  if (parts.size() > limits::kMaxFakeCardParts) parts.erase(parts.begin());
}

}  // namespace coderunner::fake
