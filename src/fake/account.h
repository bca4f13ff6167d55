// One account's cards and what hangs on them in the fake API's memory. Bounded: the oldest card
// makes room. Used by the endpoints only; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "fake/reply.h"

namespace coderunner::fake {

struct Link {
  std::int64_t card;
  std::string type;  // what the other card is to this one: "parent", "child", …
  friend bool operator==(const Link&, const Link&) = default;
};

struct Card {
  std::int64_t id = 0;
  Json fields;  // as GET /cards lists them
  std::vector<Json> comments, subtasks, custom_fields;
  std::vector<std::int64_t> tags, co_owners, watchers;
  std::vector<Link> links;
  friend bool operator==(const Card&, const Card&) = default;
};

class Account {
 public:
  explicit Account(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  const std::map<std::int64_t, Card>& cards() const { return cards_; }
  Card* find(std::int64_t card);

  // Gives the card its id, and room among the account's others.
  Card& add(Card card);
  // Takes the links of others to it with it.
  void erase(std::int64_t card);
  std::int64_t next_comment() { return ++last_comment_; }
  std::int64_t next_subtask() { return ++last_subtask_; }

  // On both cards; of two kinds of link between two cards both stand.
  void link(std::int64_t card, const Link& link);
  void unlink(std::int64_t card, const Link& link);

 private:
  std::string name_;
  std::map<std::int64_t, Card> cards_;
  std::int64_t last_card_ = 0, last_comment_ = 0, last_subtask_ = 0;
};

// What the card is to the other one; empty: the API has no such link.
std::string_view opposite_link(std::string_view type);

// The API's times: UTC, whole seconds, Z.
std::string shown_time(UtcTime at);

// After every change: the revision grows by one, and the counts follow what hangs on the card.
void touch(Card& card, UtcTime now);

// Lets the oldest go beyond the limit of one card's parts.
void keep_newest(std::vector<Json>& parts);

}  // namespace coderunner::fake
