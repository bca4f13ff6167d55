#include <gtest/gtest.h>

#include "domain/limits.h"
#include "tests/support/fake_calls.h"

namespace coderunner::fake {
namespace {

using namespace std::chrono_literals;
using namespace testing_calls;

Json create(Api& api, const std::string& body) { return data_of(api, {"POST", "/cards", body})[0]; }

// The ids of the cards that GET /cards lists, one after another.
std::string listed(Api& api, const std::string& query) {
  std::string ids;
  const Json answered = data_of(api, {"GET", "/cards" + query});
  for (const Json& card : answered["data"]) ids += card["card_id"].dump();
  return ids;
}

TEST(FakeCards, AreCreatedReadChangedListedAndDeleted) {
  Api api{generous()};
  const Json created =
      data_of(api, {"POST", "/cards", R"({"title":"One","column_id":3,"color":"#AABBCC","x":1})"});
  ASSERT_EQ(created.size(), 1U) << created;  // an array of one (facts 1.5)
  const Json& card = created[0];
  EXPECT_EQ(card["card_id"], 1);
  EXPECT_EQ(card["title"], "One");
  EXPECT_EQ(card["column_id"], 3);
  EXPECT_EQ(card["color"], "aabbcc");
  EXPECT_EQ(card["revision"], 1);
  EXPECT_EQ(card["is_blocked"], 0);
  EXPECT_EQ(card["created_at"], "2026-08-24T12:08:12Z");
  EXPECT_FALSE(card.contains("x"));

  const Json changed = data_of(api, {"PATCH", "/cards/1", R"({"column_id":4})"}, kNow + 1min);
  ASSERT_TRUE(changed.is_array());
  EXPECT_EQ(changed[0]["last_modified"], "2026-08-24T12:09:12Z");
  EXPECT_EQ(changed[0]["in_current_position_since"], "2026-08-24T12:09:12Z");
  const Json read = data_of(api, {"GET", "/cards/1"});
  EXPECT_TRUE(read.is_object());
  EXPECT_EQ(read["column_id"], 4);
  EXPECT_EQ(read["title"], "One");
  EXPECT_EQ(read["revision"], 2);

  const Json list = data_of(api, {"GET", "/cards"});
  EXPECT_EQ(list["data"].size(), 1U);
  EXPECT_EQ(list["pagination"],
            (Json{{"all_pages", 1}, {"current_page", 1}, {"results_per_page", 200}}));

  const HttpResponse deleted = ask(api, {"DELETE", "/cards/1"});
  EXPECT_EQ(deleted.status, 204);
  EXPECT_EQ(deleted.body, "");
  EXPECT_EQ(ask(api, {"GET", "/cards/1"}).status, 404);
}

TEST(FakeCards, AreTheirAccountsOwn) {
  Api api{generous()};
  create(api, R"({"title":"One"})");
  EXPECT_EQ(ask(api, {.method = "GET", .path = "/cards/1", .account = "other"}).status, 404);
}

TEST(FakeCards, ArePagedAndSayHowManyPagesThereAre) {
  Api api{generous()};
  for (int i = 0; i < 5; ++i) create(api, R"({"title":"c"})");
  EXPECT_EQ(listed(api, "?per_page=2&page=2"), "34");
  EXPECT_EQ(listed(api, "?per_page=2&page=3"), "5");
  EXPECT_EQ(listed(api, "?page=9"), "");
  EXPECT_EQ(data_of(api, {"GET", "/cards?per_page=2&page=2"})["pagination"],
            (Json{{"all_pages", 3}, {"current_page", 2}, {"results_per_page", 2}}));
  for (const char* bad : {"?per_page=0", "?per_page=1001", "?page=x", "?page=0"})
    EXPECT_EQ(refusal_of(api, {"GET", std::string{"/cards"} + bad}).substr(0, 8), "400 VE02")
        << bad;
}

TEST(FakeCards, AreFilteredByCommaJoinedLists) {
  Api api{generous()};
  for (int i = 1; i <= 5; ++i)
    create(api, R"({"title":"c","column_id":)" + std::to_string(i) + "}");
  create(api, R"({"title":"c","column_id":71,"owner_user_id":2,"custom_id":"A-1"})");
  EXPECT_EQ(listed(api, "?column_ids=2,5"), "25");
  EXPECT_EQ(listed(api, "?column_ids=2%2C5&card_ids=5"), "5");
  EXPECT_EQ(listed(api, "?board_ids=7"), "6");
  EXPECT_EQ(listed(api, "?lane_ids=71,9"), "6");
  EXPECT_EQ(listed(api, "?owner_user_ids=2,3"), "6");
  EXPECT_EQ(listed(api, "?custom_ids=A-1,B-2"), "6");
  EXPECT_EQ(listed(api, "?sections=3"), "34");
  EXPECT_EQ(listed(api, "?colors=34A97B&board_ids=7"), "6");
  for (const char* bad : {"?card_ids=1,x", "?card_ids=1,,2", "?board_ids=1,"})
    EXPECT_EQ(refusal_of(api, {"GET", std::string{"/cards"} + bad}).substr(0, 8), "400 VE02")
        << bad;
}

TEST(FakeCards, AreFilteredByTimesWithBothEndsIncluded) {
  Api api{generous()};
  data_of(api, {"POST", "/cards", R"({"title":"a","deadline":"2026-09-01"})"}, kNow);
  data_of(api, {"POST", "/cards", R"({"title":"b"})"}, kNow + 24h);
  EXPECT_EQ(listed(api, "?created_from=2026-08-25T12:08:12Z"), "2");
  EXPECT_EQ(listed(api, "?created_from=2026-08-25T12:08:13Z"), "");
  EXPECT_EQ(listed(api, "?created_to_date=2026-08-24"), "1");
  EXPECT_EQ(listed(api, "?created_from_date=2026-08-24&created_to_date=2026-08-25"), "12");
  EXPECT_EQ(listed(api, "?deadline_to=2026-09-01T02:00:00%2B02:00"), "1");
  EXPECT_EQ(refusal_of(api, {"GET", "/cards?created_from=yesterday"}), "400 VE02 created_from");
}

TEST(FakeCards, ShowOnlyTheFieldsAndAdditionsAskedFor) {
  Api api{generous()};
  create(api, R"({"title":"One"})");
  ask(api, {"POST", "/cards/1/subtasks", R"({"description":"do"})"});
  const Json lean = data_of(api, {"GET", "/cards?fields=card_id,title"})["data"][0];
  EXPECT_EQ(lean, (Json{{"card_id", 1}, {"title", "One"}}));
  const Json more =
      data_of(api, {"GET", "/cards?fields=card_id&expand=subtasks,tag_ids"})["data"][0];
  EXPECT_EQ(more.size(), 3U) << more;
  EXPECT_EQ(more["subtasks"].size(), 1U);
  EXPECT_FALSE(data_of(api, {"GET", "/cards"})["data"][0].contains("subtasks"));
  EXPECT_TRUE(data_of(api, {"GET", "/cards/1"}).contains("subtasks"));
  EXPECT_EQ(refusal_of(api, {"GET", "/cards?fields=card_id,colour"}), "400 VE02 fields");
  EXPECT_EQ(refusal_of(api, {"GET", "/cards?expand=all"}), "400 VE02 expand");
}

TEST(FakeCards, IgnoreABodyOnAGet) {
  Api api{generous()};
  create(api, R"({"title":"One"})");
  EXPECT_EQ(data_of(api, {"GET", "/cards", R"({"card_ids":[9]})"})["data"].size(), 1U);
  EXPECT_EQ(ask(api, {"GET", "/cards", "{"}).status, 200);
}

TEST(FakeCards, AColumnOfAnotherBoardTakesTheCardThere) {
  Api api{generous()};
  EXPECT_EQ(create(api, R"({"title":"One","lane_id":2})")["lane_id"], 2);
  const Json moved = data_of(api, {"PATCH", "/cards/1", R"({"column_id":73,"position":4})"})[0];
  EXPECT_EQ(moved["board_id"], 7);
  EXPECT_EQ(moved["workflow_id"], 7);
  EXPECT_EQ(moved["section"], 3);
  EXPECT_EQ(moved["lane_id"], 71);
  EXPECT_EQ(moved["position"], 4);
  EXPECT_EQ(refusal_of(api, {"PATCH", "/cards/1", R"({"lane_id":1})"}), "400 VE02 lane_id");
  EXPECT_EQ(refusal_of(api, {"PATCH", "/cards/1", R"({"column_id":99})"}), "400 VE02 column_id");
  EXPECT_EQ(data_of(api, {"GET", "/cards/1"})["revision"], 2);  // what was refused changed nothing
}

TEST(FakeCards, AreTakenOutOfTheListByArchivingAndDiscarding) {
  Api api{generous()};
  create(api, R"({"title":"One","column_id":3})");
  create(api, R"({"title":"Two","column_id":4})");
  const Json archived = data_of(api, {"PATCH", "/cards/1", R"({"is_archived":1})"})[0];
  EXPECT_EQ(archived["archived_at"], "2026-08-24T12:08:12Z");
  EXPECT_EQ(archived["column_id"], nullptr);
  EXPECT_EQ(archived["last_column_id"], 3);
  ask(api, {"PATCH", "/cards/2",
            R"({"is_discarded":1,"discard_comment":"no longer","discard_reason_id":5})"});
  EXPECT_EQ(data_of(api, {"GET", "/cards/2"})["discard_comment"], "no longer");
  EXPECT_EQ(listed(api, ""), "");
  EXPECT_EQ(listed(api, "?state=archived"), "1");
  EXPECT_EQ(listed(api, "?state=archived&last_column_ids=3"), "1");
  EXPECT_EQ(listed(api, "?state=discarded"), "2");
  EXPECT_EQ(refusal_of(api, {"GET", "/cards?state=lost"}), "400 VE02 state");
  EXPECT_EQ(refusal_of(api, {"PATCH", "/cards/1", R"({"column_id":2})"}), "400 VE02 column_id");
  EXPECT_EQ(refusal_of(api, {"PATCH", "/cards/1", R"({"is_archived":true})"}),
            "400 VE02 is_archived");

  const Json back = data_of(api, {"PATCH", "/cards/1", R"({"is_archived":0,"column_id":2})"})[0];
  EXPECT_EQ(back["archived_at"], nullptr);
  EXPECT_EQ(back["column_id"], 2);
  EXPECT_EQ(back["lane_id"], 1);
  EXPECT_EQ(listed(api, ""), "1");
}

TEST(FakeCards, RefuseFieldsOfTheWrongKindByName) {
  Api api{generous()};
  for (const auto& [field, value] :
       std::initializer_list<std::pair<std::string, std::string>>{{"title", "5"},
                                                                  {"color", R"("abc")"},
                                                                  {"owner_user_id", "99"},
                                                                  {"deadline", R"("soon")"},
                                                                  {"column_id", R"("1")"},
                                                                  {"priority", R"("high")"},
                                                                  {"description", "null"}})
    EXPECT_EQ(
        refusal_of(api, {"POST", "/cards", R"({"title":"t",")" + field + "\":" + value + "}"}),
        "400 VE02 " + field);
  EXPECT_EQ(listed(api, ""), "");
  EXPECT_EQ(create(api, R"({"title":"t","deadline":"2026-09-01T10:00:00+02:00"})")["deadline"],
            "2026-09-01T08:00:00Z");
}

TEST(FakeCards, BeyondTheLimitOfAnAccountTheOldestMakesRoom) {
  Api api{generous()};
  for (std::size_t i = 0; i <= limits::kMaxFakeCards; ++i) create(api, R"({"title":"c"})");
  EXPECT_EQ(ask(api, {"GET", "/cards/1"}).status, 404);
  EXPECT_EQ(ask(api, {"GET", "/cards/2"}).status, 200);
  EXPECT_EQ(data_of(api, {"GET", "/cards?per_page=1"})["pagination"]["all_pages"],
            limits::kMaxFakeCards);
}

}  // namespace
}  // namespace coderunner::fake
