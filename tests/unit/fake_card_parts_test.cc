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

}  // namespace
}  // namespace coderunner::fake
