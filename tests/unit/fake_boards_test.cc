#include <gtest/gtest.h>

#include "tests/support/fake_calls.h"

namespace coderunner::fake {
namespace {

using namespace testing_calls;

TEST(FakeBoards, HaveColumnsLanesAndWorkflowsThatFitEachOther) {
  Api api{generous()};
  const Json boards = data_of(api, {"GET", "/boards"});
  ASSERT_EQ(boards.size(), 2U);
  for (const Json& board : boards) {
    const std::string path = "/boards/" + board["board_id"].dump();
    EXPECT_EQ(data_of(api, {"GET", path}), board);
    const Json workflows = data_of(api, {"GET", path + "/workflows"});
    ASSERT_EQ(workflows.size(), 1U);
    for (const char* part : {"/columns", "/lanes"}) {
      const Json entries = data_of(api, {"GET", path + part});
      EXPECT_FALSE(entries.empty());
      for (const Json& entry : entries)
        EXPECT_EQ(entry["workflow_id"], workflows[0]["workflow_id"]) << entry;
    }
  }
  EXPECT_EQ(data_of(api, {"GET", "/boards/7/columns"})[0]["column_id"], 71);
  EXPECT_EQ(refusal_of(api, {"GET", "/boards/3/columns"}), "404 RNFD board_id");
}

TEST(FakeBoards, TheCurrentStructureIsAllOfABoardInOneAnswer) {
  Api api{generous()};
  const Json structure = data_of(api, {"GET", "/boards/1/currentStructure"});
  EXPECT_EQ(structure["board_id"], 1);
  EXPECT_EQ(structure["columns"], data_of(api, {"GET", "/boards/1/columns"}));
  EXPECT_EQ(structure["lanes"], data_of(api, {"GET", "/boards/1/lanes"}));
  EXPECT_EQ(structure["workflows"], data_of(api, {"GET", "/boards/1/workflows"}));
  EXPECT_EQ(refusal_of(api, {"GET", "/boards/3/currentStructure"}), "404 RNFD board_id");
}

TEST(FakeCompany, ListsWorkspacesUsersFieldsTagsAndReasonsWithoutPages) {
  Api api{generous()};
  for (const auto& [path, key] :
       std::initializer_list<std::pair<std::string, std::string>>{{"/workspaces", "workspace_id"},
                                                                  {"/users", "user_id"},
                                                                  {"/customFields", "field_id"},
                                                                  {"/tags", "tag_id"},
                                                                  {"/blockReasons", "reason_id"}}) {
    const Json entries = data_of(api, {"GET", path});
    ASSERT_TRUE(entries.is_array() && !entries.empty()) << path;
    EXPECT_TRUE(entries[0][key].is_number_integer()) << path;
  }
  EXPECT_EQ(data_of(api, {"GET", "/users/2"})["username"], "ada");
  EXPECT_EQ(data_of(api, {"GET", "/customFields/3"})["allowed_values"].size(), 3U);
  EXPECT_EQ(data_of(api, {"GET", "/workspaces/1"})["name"], "Main workspace");
  EXPECT_EQ(refusal_of(api, {"GET", "/users/99"}), "404 RNFD user_id");
  EXPECT_EQ(refusal_of(api, {"POST", "/users", "{}"}), "405 RMNA");
}

TEST(FakeCompany, MeIsTheKeysOwnerOfTheAccountAsked) {
  Api api{generous()};
  EXPECT_EQ(data_of(api, {"GET", "/me"})["user_id"], 1);
  EXPECT_EQ(data_of(api, {.method = "GET", .path = "/me", .account = "beta"})["email"],
            "automation@beta.example");
}

TEST(FakeCompany, TheApiLimitsAreTheOnesInForce) {
  ApiOptions options;
  options.quota.per_minute = 12;
  options.quota.per_hour = 340;
  Api api{options};
  EXPECT_EQ(data_of(api, {"GET", "/apiLimits"}),
            (Json::array(
                {{{"types", "hourly"}, {"limit", 340}}, {{"types", "minutely"}, {"limit", 12}}})));
}

}  // namespace
}  // namespace coderunner::fake
