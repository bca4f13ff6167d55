// One account's cards, comments and subtasks in the fake API's memory. Bounded: the oldest makes
// room. Used by the endpoints only; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "fake/reply.h"

namespace coderunner::fake {

struct Card {
  Json fields;  // as GET /cards/{id} shows them
  std::vector<Json> comments;
  std::vector<Json> subtasks;
  friend bool operator==(const Card&, const Card&) = default;
};

class Account {
 public:
  explicit Account(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  const std::map<std::int64_t, Card>& cards() const { return cards_; }
  Card* find(std::int64_t card);

  // `fields` are checked by then; those not given take the API's defaults.
  Card& create(const Json& fields, UtcTime now);
  // Grows the card's revision by one.
  static void update(Card& card, const Json& fields, UtcTime now);
  void erase(std::int64_t card) { cards_.erase(card); }
  const Json& add_comment(Card& card, const std::string& text, UtcTime now);
  const Json& add_subtask(Card& card, const std::string& description);

 private:
  std::string name_;
  std::map<std::int64_t, Card> cards_;
  std::int64_t last_card_ = 0, last_comment_ = 0, last_subtask_ = 0;
};

// nullopt, or what is wrong with the fields of a card that a body names; fields it does not know
// are the API's to ignore (facts 1.5).
std::optional<Reply> refuse_card_fields(const Json& body);

}  // namespace coderunner::fake
