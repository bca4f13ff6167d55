#include <gtest/gtest.h>

#include "tests/support/fake_calls.h"

namespace coderunner::fake {
namespace {

using namespace std::chrono_literals;
using namespace testing_calls;

struct CardParts : ::testing::Test {
  CardParts() { ask(api, {"POST", "/cards", R"({"title":"One"})"}); }

  Json card() { return data_of(api, {"GET", "/cards/1"}); }
  int status(const Sent& sent) { return ask(api, sent).status; }

  Api api{generous()};
};

using FakeComments = CardParts;
using FakeSubtasks = CardParts;
using FakeCustomFields = CardParts;
using FakeTags = CardParts;
using FakeBlocks = CardParts;

TEST_F(FakeComments, AreWrittenReadChangedAndDeleted) {
  const Json made = data_of(api, {"POST", "/cards/1/comments", R"({"text":"hi"})"});
  EXPECT_EQ(made["comment_id"], 1);
  EXPECT_EQ(made["text"], "hi");
  EXPECT_EQ(made["created_at"], "2026-08-24T12:08:12Z");
  EXPECT_EQ(made["author"], (Json{{"type", "internal"}, {"value", 1}}));
  EXPECT_EQ(card()["comment_count"], 1);
  const Json changed =
      data_of(api, {"PATCH", "/cards/1/comments/1", R"({"text":"ho"})"}, kNow + 1min);
  EXPECT_EQ(changed["text"], "ho");
  EXPECT_EQ(changed["last_modified"], "2026-08-24T12:09:12Z");
  EXPECT_EQ(data_of(api, {"GET", "/cards/1/comments/1"})["text"], "ho");
  EXPECT_EQ(data_of(api, {"GET", "/cards/1/comments"}).size(), 1U);
  EXPECT_EQ(status({"DELETE", "/cards/1/comments/1"}), 204);
  EXPECT_EQ(data_of(api, {"GET", "/cards/1/comments"}), Json::array());
  EXPECT_EQ(card()["comment_count"], 0);
}

TEST_F(FakeComments, NeedATextACardAndAnId) {
  EXPECT_EQ(refusal_of(api, {"POST", "/cards/1/comments", "{}"}), "400 VE02 text");
  EXPECT_EQ(refusal_of(api, {"POST", "/cards/1/comments"}), "400 VE02 text");
  EXPECT_EQ(refusal_of(api, {"POST", "/cards/9/comments", R"({"text":"hi"})"}), "404 C101 card_id");
  for (const char* method : {"GET", "PATCH", "DELETE"})
    EXPECT_EQ(status({method, "/cards/1/comments/7", R"({"text":"hi"})"}), 404) << method;
}

TEST_F(FakeSubtasks, AreMadeReadFinishedAndDeleted) {
  const Json made =
      data_of(api, {"POST", "/cards/1/subtasks", R"({"description":"do","owner_user_id":2})"});
  EXPECT_EQ(made["subtask_id"], 1);
  EXPECT_EQ(made["description"], "do");
  EXPECT_EQ(made["owner_user_id"], 2);
  EXPECT_EQ(made["finished_at"], nullptr);
  EXPECT_EQ(card()["unfinished_subtask_count"], 1);
  const Json done =
      data_of(api, {"PATCH", "/cards/1/subtasks/1", R"({"is_finished":1})"}, kNow + 1min);
  EXPECT_EQ(done["finished_at"], "2026-08-24T12:09:12Z");
  EXPECT_EQ(done["description"], "do");
  EXPECT_EQ(card()["finished_subtask_count"], 1);
  EXPECT_EQ(card()["unfinished_subtask_count"], 0);
  EXPECT_EQ(data_of(api, {"GET", "/cards/1/subtasks/1"}), done);
  EXPECT_EQ(data_of(api, {"PATCH", "/cards/1/subtasks/1", R"({"is_finished":0})"})["finished_at"],
            nullptr);
  EXPECT_EQ(status({"DELETE", "/cards/1/subtasks/1"}), 204);
  EXPECT_EQ(data_of(api, {"GET", "/cards/1/subtasks"}), Json::array());
}

TEST_F(FakeSubtasks, NeedADescriptionAndRefuseWhatIsNotOne) {
  EXPECT_EQ(refusal_of(api, {"POST", "/cards/1/subtasks", "{}"}), "400 VE02 description");
  EXPECT_EQ(refusal_of(api, {"POST", "/cards/1/subtasks", R"({"description":1})"}),
            "400 VE02 description");
  EXPECT_EQ(
      refusal_of(api, {"POST", "/cards/1/subtasks", R"({"description":"do","owner_user_id":99})"}),
      "400 VE02 owner_user_id");
  EXPECT_EQ(status({"GET", "/cards/1/subtasks/7"}), 404);
  EXPECT_EQ(data_of(api, {"GET", "/cards/1/subtasks"}), Json::array());
  EXPECT_EQ(card()["revision"], 1);
}

TEST_F(CardParts, EveryChangeGrowsTheRevisionByOne) {
  ask(api, {"POST", "/cards/1/subtasks", R"({"description":"do"})"});
  EXPECT_EQ(card()["revision"], 2);
  ask(api, {"POST", "/cards/1/comments", R"({"text":"hi"})"}, kNow + 1min);
  EXPECT_EQ(card()["revision"], 3);
  EXPECT_EQ(card()["last_modified"], "2026-08-24T12:09:12Z");
  ask(api, {"GET", "/cards/1/comments"});
  EXPECT_EQ(card()["revision"], 3);
}

TEST_F(FakeCustomFields, ArePutReadAndTakenAway) {
  const HttpResponse put = ask(api, {"PUT", "/cards/1/customFields/1", R"({"value":"Acme"})"});
  EXPECT_EQ(put.status, 204);
  EXPECT_EQ(put.body, "");
  EXPECT_EQ(data_of(api, {"GET", "/cards/1/customFields/1"}),
            (Json{{"field_id", 1}, {"value", "Acme"}, {"display_value", "Acme"}}));
  EXPECT_EQ(status({"PUT", "/cards/1/customFields/2", R"({"value":2.5})"}), 204);
  EXPECT_EQ(status({"PUT", "/cards/1/customFields/1", R"({"value":"Beta"})"}), 204);
  const Json all = data_of(api, {"GET", "/cards/1/customFields"});
  ASSERT_EQ(all.size(), 2U) << all;
  EXPECT_EQ(all[0]["value"], "Beta");
  EXPECT_EQ(all[1]["display_value"], "2.5");
  EXPECT_EQ(card()["custom_fields"], all);
  EXPECT_EQ(card()["revision"], 4);
  EXPECT_EQ(status({"DELETE", "/cards/1/customFields/1"}), 204);
  EXPECT_EQ(status({"DELETE", "/cards/1/customFields/1"}), 404);
  EXPECT_EQ(status({"GET", "/cards/1/customFields/1"}), 404);
}

TEST_F(FakeCustomFields, ADropdownHoldsChosenValues) {
  const auto put = [&](const std::string& body) {
    return refusal_of(api, {"PUT", "/cards/1/customFields/3", body});
  };
  EXPECT_EQ(put(R"({"selected_values_to_add_or_update":[{"value_id":1},{"value_id":3}]})"), "204");
  EXPECT_EQ(data_of(api, {"GET", "/cards/1/customFields/3"})["display_value"], "test, production");
  EXPECT_EQ(put(R"({"selected_value_ids_to_remove":[1]})"), "204");
  const Json held = data_of(api, {"GET", "/cards/1/customFields/3"});
  EXPECT_EQ(held["values"].size(), 1U);
  EXPECT_EQ(held["values"][0]["value_id"], 3);
  EXPECT_EQ(put(R"({"selected_values_to_add_or_update":[{"value_id":9}]})"),
            "400 VE02 selected_values_to_add_or_update");
}

TEST_F(FakeCustomFields, RefuseValuesOfTheWrongKindAndFieldsThatAreNotThere) {
  const auto put = [&](const std::string& field, const std::string& body) {
    return refusal_of(api, {"PUT", "/cards/1/customFields/" + field, body});
  };
  EXPECT_EQ(put("1", R"({"value":1})"), "400 VE02 value");
  EXPECT_EQ(put("2", R"({"value":"many"})"), "400 VE02 value");
  EXPECT_EQ(put("4", R"({"value":"soon"})"), "400 VE02 value");
  EXPECT_EQ(put("4", R"({"value":"2026-09-01"})"), "204");
  EXPECT_EQ(put("1", "{}"), "400 VE02 value");
  EXPECT_EQ(put("99", R"({"value":"x"})").substr(0, 8), "404 RNFD");
}

TEST_F(FakeTags, ArePutOnceListedCheckedAndTakenAway) {
  EXPECT_EQ(status({"PUT", "/cards/1/tags/2"}), 204);
  EXPECT_EQ(status({"PUT", "/cards/1/tags/2"}), 204);
  EXPECT_EQ(status({"PUT", "/cards/1/tags/1"}), 204);
  EXPECT_EQ(data_of(api, {"GET", "/cards/1/tags"}),
            Json::array({{{"card_id", 1}, {"tag_id", 2}}, {{"card_id", 1}, {"tag_id", 1}}}));
  EXPECT_EQ(card()["tag_ids"], Json::array({2, 1}));
  EXPECT_EQ(card()["revision"], 3);
  EXPECT_EQ(status({"GET", "/cards/1/tags/2"}), 204);
  EXPECT_EQ(status({"GET", "/cards/1/tags/3"}), 404);
  EXPECT_EQ(status({"DELETE", "/cards/1/tags/2"}), 204);
  EXPECT_EQ(status({"DELETE", "/cards/1/tags/2"}), 404);
  EXPECT_EQ(status({"PUT", "/cards/1/tags/99"}), 404);
}

TEST_F(FakeBlocks, HoldAReasonUntilTheyAreLifted) {
  EXPECT_EQ(status({"GET", "/cards/1/blockReason"}), 404);
  EXPECT_EQ(status({"DELETE", "/cards/1/blockReason"}), 404);
  EXPECT_EQ(status({"PUT", "/cards/1/blockReason", R"({"reason_id":2,"comment":"card 9"})"}), 204);
  const Json block = data_of(api, {"GET", "/cards/1/blockReason"});
  EXPECT_EQ(block["reason"]["reason_id"], 2);
  EXPECT_EQ(block["comment"], "card 9");
  EXPECT_EQ(card()["is_blocked"], 1);
  EXPECT_EQ(card()["block_reason"], block);
  EXPECT_EQ(data_of(api, {"GET", "/cards?is_blocked=1"})["data"].size(), 1U);
  EXPECT_EQ(status({"DELETE", "/cards/1/blockReason"}), 204);
  EXPECT_EQ(card()["is_blocked"], 0);
  EXPECT_EQ(card()["block_reason"], nullptr);
  EXPECT_EQ(refusal_of(api, {"PUT", "/cards/1/blockReason", R"({"reason_id":99})"}),
            "400 VE02 reason_id");
  EXPECT_EQ(refusal_of(api, {"PUT", "/cards/1/blockReason"}), "400 VE02 reason_id");
}

}  // namespace
}  // namespace coderunner::fake
