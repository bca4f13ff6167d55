#include <gtest/gtest.h>

#include "domain/limits.h"
#include "tests/support/fake_calls.h"

namespace coderunner::fake {
namespace {

using namespace testing_calls;

struct FakeEdits : ::testing::Test {
  FakeEdits() {
    for (const char* title : {"One", "Two", "Three"})
      ask(api, {"POST", "/cards", std::string{R"({"title":")"} + title + "\"}"});
  }

  Json card(int id) { return data_of(api, {"GET", "/cards/" + std::to_string(id)}); }
  Json patch(const std::string& body) { return data_of(api, {"PATCH", "/cards/1", body})[0]; }
  std::string refused(const std::string& body) {
    return refusal_of(api, {"PATCH", "/cards/1", body});
  }

  Api api{generous()};
};

using FakeBulk = FakeEdits;

TEST_F(FakeEdits, OnePatchMayCarryThemAllAndIsOneRevision) {
  const Json edited = patch(R"({"title":"Uno","column_id":2,
    "subtasks_to_add":[{"description":"a"},{"description":"b","is_finished":1}],
    "custom_fields_to_add_or_update":[{"field_id":2,"value":3}],
    "tag_ids_to_add":[1,3],"co_owner_ids_to_add":[2],"watcher_ids_to_add":[3],
    "block_reason":{"reason_id":1},
    "links_to_existing_cards_to_add_or_update":[{"linked_card_id":2,"link_type":"child"}]})");
  EXPECT_EQ(edited, card(1));
  EXPECT_EQ(edited["title"], "Uno");
  EXPECT_EQ(edited["column_id"], 2);
  EXPECT_EQ(edited["subtasks"].size(), 2U);
  EXPECT_EQ(edited["finished_subtask_count"], 1);
  EXPECT_EQ(edited.at("custom_fields").at(0)["value"], 3);
  EXPECT_EQ(edited["tag_ids"], Json::array({1, 3}));
  EXPECT_EQ(edited["co_owner_ids"], Json::array({2}));
  EXPECT_EQ(edited["watcher_ids"], Json::array({3}));
  EXPECT_EQ(edited["is_blocked"], 1);
  EXPECT_EQ(edited.at("linked_cards").at(0)["card_id"], 2);
  EXPECT_EQ(edited["revision"], 2);
}

TEST_F(FakeEdits, TakeAwayWhatWasThere) {
  patch(R"({"subtasks_to_add":[{"description":"a"},{"description":"b"}],"tag_ids_to_add":[1,3],
    "custom_fields_to_add_or_update":[{"field_id":2,"value":3}],"block_reason":{"reason_id":1},
    "links_to_existing_cards_to_add_or_update":[{"linked_card_id":2,"link_type":"child"}]})");
  const Json edited = patch(R"({"subtask_ids_to_remove":[1],"tag_ids_to_remove":[3],
    "subtasks_to_update":[{"subtask_id":2,"is_finished":1}],
    "custom_field_ids_to_remove":[2],"block_reason":null,
    "links_to_existing_cards_to_remove":[{"linked_card_id":2,"link_type":"child"}]})");
  ASSERT_EQ(edited["subtasks"].size(), 1U);
  EXPECT_EQ(edited.at("subtasks").at(0)["subtask_id"], 2);
  EXPECT_EQ(edited["finished_subtask_count"], 1);
  EXPECT_EQ(edited["tag_ids"], Json::array({1}));
  EXPECT_EQ(edited["custom_fields"], Json::array());
  EXPECT_EQ(edited["is_blocked"], 0);
  EXPECT_EQ(edited["linked_cards"], Json::array());
  EXPECT_EQ(card(2)["linked_cards"], Json::array());
}

TEST_F(FakeEdits, ARefusedOneLeavesTheCardAsItWasAndNamesItsField) {
  const Json before = card(1);
  for (const auto& [field, value] : std::initializer_list<std::pair<std::string, std::string>>{
           {"subtasks_to_add", "[{}]"},
           {"subtasks_to_add", R"([{"description":"a"},{"description":5}])"},
           {"subtasks_to_add", "{}"},
           {"subtasks_to_update", R"([{"subtask_id":9}])"},
           {"custom_fields_to_add_or_update", R"([{"field_id":99,"value":"x"}])"},
           {"custom_fields_to_add_or_update", R"([{"field_id":2,"value":"x"}])"},
           {"tag_ids_to_add", "[99]"},
           {"co_owner_ids_to_add", R"(["2"])"},
           {"block_reason", R"({"reason_id":99})"},
           {"links_to_existing_cards_to_add_or_update",
            R"([{"linked_card_id":99,"link_type":"child"}])"},
           {"links_to_existing_cards_to_add_or_update",
            R"([{"linked_card_id":1,"link_type":"child"}])"},
           {"links_to_existing_cards_to_add_or_update",
            R"([{"linked_card_id":2,"link_type":"friend"}])"}})
    EXPECT_EQ(refused(R"({"title":"Uno","tag_ids_to_add":[1],")" + field + "\":" + value + "}"),
              "400 VE02 " + field)
        << value;
  EXPECT_EQ(card(1), before);
  EXPECT_EQ(ledger_of(api)["effects"].size(), 3U);
}

TEST_F(FakeEdits, ALinkShowsOnBothCardsAndGoesWithEither) {
  patch(R"({"links_to_existing_cards_to_add_or_update":[
    {"linked_card_id":2,"link_type":"parent"},{"linked_card_id":3,"link_type":"successor"}]})");
  EXPECT_EQ(data_of(api, {"GET", "/cards/1/linkedCards"}).at(0),
            (Json{{"card_id", 2}, {"link_type", "parent"}, {"position", 0}}));
  EXPECT_EQ(card(2).at("linked_cards").at(0)["link_type"], "child");
  EXPECT_EQ(card(3).at("linked_cards").at(0)["link_type"], "predecessor");
  ask(api, {"DELETE", "/cards/2"});
  const Json left = data_of(api, {"GET", "/cards/1/linkedCards"});
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0]["card_id"], 3);
}

TEST_F(FakeEdits, ANewCardMayHaveThemToo) {
  const Json made = data_of(api, {"POST", "/cards", R"({"title":"Four","tag_ids_to_add":[2],
    "subtasks_to_add":[{"description":"a"}],
    "links_to_existing_cards_to_add_or_update":[{"linked_card_id":1,"link_type":"parent"}]})"})[0];
  EXPECT_EQ(made["card_id"], 4);
  EXPECT_EQ(made["revision"], 1);
  EXPECT_EQ(made["tag_ids"], Json::array({2}));
  EXPECT_EQ(made["subtasks"].size(), 1U);
  EXPECT_EQ(card(1).at("linked_cards").at(0)["card_id"], 4);
}

TEST_F(FakeBulk, CreatesManyInOneCallThatIsOneEffectAndOneOfTheQuota) {
  const std::string body = R"({"cards":[{"title":"a","column_id":2},{"title":"b"}]})";
  const HttpResponse answered = ask(api, {"POST", "/cards/createMany", body});
  ASSERT_EQ(answered.status, 200);
  const Json made = body_of(answered)["data"];
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0]["card_id"], 4);
  EXPECT_EQ(made[0]["column_id"], 2);
  EXPECT_EQ(made[1]["title"], "b");
  EXPECT_EQ(header(answered, "X-RateLimit-PerHour-Remaining"), "999996");  // after three and one
  const Json effects = ledger_of(api)["effects"];
  ASSERT_EQ(effects.size(), 4U);
  EXPECT_EQ(effects[3]["path"], "/cards/createMany");
  EXPECT_EQ(effects[3]["body"], Json::parse(body));
}

TEST_F(FakeBulk, UpdatesManyEachByItsId) {
  const Json changed = data_of(api, {"POST", "/cards/updateMany", R"({"cards":[
    {"card_id":1,"title":"Uno","tag_ids_to_add":[1]},{"card_id":3,"column_id":4},
    {"card_id":1,"column_id":5}]})"});
  ASSERT_EQ(changed.size(), 2U) << changed;
  EXPECT_EQ(card(1)["title"], "Uno");
  EXPECT_EQ(card(1)["column_id"], 5);
  EXPECT_EQ(card(1)["tag_ids"], Json::array({1}));
  EXPECT_EQ(card(1)["revision"], 3);
  EXPECT_EQ(card(3)["column_id"], 4);
  EXPECT_EQ(card(2)["revision"], 1);
}

TEST_F(FakeBulk, TwoOfOneCallMayLinkTheSameCard) {
  data_of(api, {"POST", "/cards/updateMany", R"({"cards":[
    {"card_id":1,"links_to_existing_cards_to_add_or_update":[
      {"linked_card_id":2,"link_type":"child"}]},
    {"card_id":2,"title":"Dos"}]})"});
  EXPECT_EQ(card(1)["linked_cards"].size(), 1U);
  EXPECT_EQ(card(2)["linked_cards"].size(), 1U);
  EXPECT_EQ(card(2)["title"], "Dos");
}

TEST_F(FakeBulk, DeletesManyWithoutABodyInTheAnswer) {
  const HttpResponse answered = ask(api, {"POST", "/cards/deleteMany", R"({"card_ids":[1,3]})"});
  EXPECT_EQ(answered.status, 204);
  EXPECT_EQ(answered.body, "");
  EXPECT_EQ(data_of(api, {"GET", "/cards"})["data"].size(), 1U);
}

TEST_F(FakeBulk, IsAllOrNothing) {
  const auto refused_bulk = [&](const std::string& verb, const std::string& body) {
    return refusal_of(api, {"POST", "/cards/" + verb, body});
  };
  EXPECT_EQ(refused_bulk("createMany", R"({"cards":[{"title":"a"},{}]})"), "400 VE02 title");
  EXPECT_EQ(refused_bulk("createMany", R"({"cards":[{"title":"a"},7]})"), "400 VE02 cards");
  EXPECT_EQ(refused_bulk("updateMany", R"({"cards":[{"card_id":1,"title":"x"},{"card_id":9}]})"),
            "404 C101 card_id");
  EXPECT_EQ(refused_bulk("updateMany", R"({"cards":[{"title":"x"}]})"), "400 VE02 card_id");
  EXPECT_EQ(refused_bulk("deleteMany", R"({"card_ids":[1,9]})"), "404 C101 card_id");
  EXPECT_EQ(refused_bulk("deleteMany", R"({"card_ids":["1"]})"), "400 VE02 card_ids");
  for (const char* body : {"", "{}", R"({"cards":[]})", R"({"cards":{}})"})
    EXPECT_EQ(refused_bulk("createMany", body), "400 VE02 cards") << body;
  EXPECT_EQ(data_of(api, {"GET", "/cards"})["data"].size(), 3U);
  EXPECT_EQ(card(1)["title"], "One");
  EXPECT_EQ(ledger_of(api)["effects"].size(), 3U);
}

TEST_F(FakeBulk, IsBounded) {
  const auto create = [&](std::size_t count) {
    Json body{{"cards", Json::array()}};
    for (std::size_t i = 0; i < count; ++i) body["cards"].push_back({{"title", "c"}});
    return refusal_of(api, {"POST", "/cards/createMany", body.dump()});
  };
  EXPECT_EQ(create(limits::kMaxFakeBulk), "200");
  EXPECT_EQ(create(limits::kMaxFakeBulk + 1), "400 VE02 cards");
}

}  // namespace
}  // namespace coderunner::fake
