// What scripts find on `api` beside the five calls: which calls each of them makes, in the shapes
// of facts 1.5, and that an error names the script's own line.
#include <gtest/gtest.h>

#include <map>

#include "tests/unit/executor_script_stage.h"

namespace coderunner::executor {
namespace {

using Calls = std::vector<ScriptCall>;

ScriptCall get(std::string path) { return {"GET", std::move(path), std::nullopt}; }

// Answers by "METHOD path"; anything else is a 404.
struct ApiStage : Stage {
  explicit ApiStage(std::map<std::string, std::string> answers) {
    answer = [known = std::move(answers)](const ScriptCall& call) -> CallAnswer {
      const auto found = known.find(call.method + " " + call.path);
      if (found == known.end()) return CallError{404, "C101", "API answered 404: C101 no such"};
      if (found->second.empty()) return CallResult{204, std::nullopt};
      return CallResult{200, found->second};
    };
  }
};

std::string page(int number, int of, const std::string& cards) {
  return R"({"data":{"pagination":{"all_pages":)" + std::to_string(of) + R"(,"current_page":)" +
         std::to_string(number) + R"(,"results_per_page":2},"data":[)" + cards + "]}}";
}

TEST(ApiCards, AreReadPageByPageAsTheLoopComesToThem) {
  ApiStage stage{{{"GET /cards?board_ids=7,8&page=1", page(1, 2, R"({"card_id":1},{"card_id":2})")},
                  {"GET /cards?board_ids=7,8&page=2", page(2, 2, R"({"card_id":3})")}}};
  EXPECT_EQ(stage.logged("local cards = api.cards{board_ids = {7, 8}} log('none yet') "
                         "for card in cards do log(card.card_id) end"),
            "none yet|1|2|3");
  EXPECT_EQ(stage.calls,
            (Calls{get("/cards?board_ids=7,8&page=1"), get("/cards?board_ids=7,8&page=2")}));
}

TEST(ApiCards, AskForNoPageTheLoopDoesNotComeTo) {
  ApiStage stage{{{"GET /cards?page=1", page(1, 9, R"({"card_id":1},{"card_id":2})")}}};
  EXPECT_EQ(stage.logged("for card in api.cards() do log(card.card_id) break end"), "1");
  EXPECT_EQ(stage.calls.size(), 1U);
}

TEST(ApiCards, StartAtThePageAndHoldTheSizeThatIsAskedFor) {
  ApiStage stage{{{"GET /cards?page=3&per_page=50", page(3, 3, R"({"card_id":9})")}}};
  EXPECT_EQ(stage.logged("for card in api.cards{page = 3, per_page = 50} do log(card.card_id) end"),
            "9");
}

TEST(ApiCards, EndAtAnEmptyPageWhateverThePaginationSays) {
  ApiStage stage{{{"GET /cards?page=1", page(1, 1000000, R"({"card_id":1})")},
                  {"GET /cards?page=2", page(2, 1000000, "")}}};
  EXPECT_EQ(stage.logged("local n = 0 for _ in api.cards{} do n = n + 1 end log(n)"), "1");
  EXPECT_EQ(stage.calls.size(), 2U);
}

TEST(ApiCards, AreOnePageWhereNoPaginationIsGiven) {
  ApiStage stage{{{"GET /cards?page=1", R"({"data":[{"card_id":4}]})"}}};
  EXPECT_EQ(stage.logged("for card in api.cards{} do log(card.card_id) end"), "4");
}

TEST(ApiCards, LeaveTheCallersFiltersAsTheyWere) {
  ApiStage stage{{{"GET /cards?page=1", page(1, 1, "")}}};
  EXPECT_EQ(
      stage.logged("local filters = {} for _ in api.cards(filters) do end log(next(filters))"),
      "nil");
}

TEST(ApiQuery, EncodesNamesAndValuesAndJoinsLists) {
  Stage stage;
  EXPECT_EQ(stage.logged("log(api.query{q = 'a b&c/\\u{e4},', on = true, off = false, n = 2.0, "
                         "ids = {1, '2'}}) log(api.query(), api.query{})"),
            "?ids=1,2&n=2&off=0&on=1&q=a%20b%26c%2F%C3%A4%2C|\t");
}

// ?board_ids= without a value would be every card.
TEST(ApiQuery, RefusesAnEmptyListWhereItStands) {
  Stage stage;
  EXPECT_EQ(stage.run("local none = {}\nfor _ in api.cards{card_ids = none} do end").message,
            "script:2: the parameter card_ids is an empty list");
  EXPECT_TRUE(stage.calls.empty());
}

TEST(ApiCard, IsAnsweredAsAnArrayOfOneOrAsAnObject) {
  ApiStage stage{{{"GET /cards/7", R"({"data":{"card_id":7}})"},
                  {"POST /cards", R"({"data":[{"card_id":8}]})"},
                  {"PATCH /cards/7", R"({"data":{"card_id":7,"title":"b"}})"}}};
  EXPECT_EQ(stage.logged("log(api.card(7).card_id) log(api.create_card{title = 'a'}.card_id) "
                         "log(api.update_card(7, {title = 'b'}).title)"),
            "7|8|b");
  EXPECT_EQ(stage.calls, (Calls{get("/cards/7"),
                                {"POST", "/cards", R"({"title":"a"})"},
                                {"PATCH", "/cards/7", R"({"title":"b"})"}}));
}

TEST(ApiCard, IsNamedByItsNumberItsTextOrItself) {
  ApiStage stage{{{"GET /cards/7", R"({"data":{"card_id":7}})"}}};
  EXPECT_EQ(stage.logged("log(api.card('7').card_id, api.card(api.card(7.0)).card_id)"), "7\t7");
}

TEST(ApiCard, ThatIsNoneIsRefusedWhereItStands) {
  for (const char* id : {"nil", "{}", "'x'", "-1", "7.5", "json.null", "print", "'7/../8'"}) {
    Stage stage;
    const ScriptEnd end = stage.run("\nreturn api.card(" + std::string{id} + ")");
    EXPECT_TRUE(end.message.starts_with("script:2: api.card: card_id must be a whole number") ||
                end.message == "script:2: api.card: the table has no card_id")
        << id << ": " << end.message;
    EXPECT_TRUE(stage.calls.empty());
  }
}

TEST(ApiMoveCard, IsAPatchOfThePlace) {
  ApiStage stage{{{"PATCH /cards/7", R"({"data":[{"card_id":7}]})"}}};
  EXPECT_EQ(stage.logged("api.move_card(7, {column_id = 3, lane_id = 2, position = 0})"), "");
  EXPECT_EQ(stage.calls,
            (Calls{{"PATCH", "/cards/7", R"({"column_id":3,"lane_id":2,"position":0})"}}));
  EXPECT_EQ(
      stage.run("api.move_card(7, {title = 'x'})").message,
      "script:1: api.move_card: the place needs a column_id, a lane_id, a position or a track");
}

TEST(ApiDeleteCard, AnswersNothing) {
  ApiStage stage{{{"DELETE /cards/7", ""}}};
  EXPECT_EQ(stage.logged("log(select('#', api.delete_card(7)))"), "0");
}

TEST(ApiBulk, IsOneCallForAllCards) {
  ApiStage stage{{{"POST /cards/createMany", R"({"data":[{"card_id":1},{"card_id":2}]})"},
                  {"POST /cards/updateMany", R"({"data":[{"card_id":1}]})"},
                  {"POST /cards/deleteMany", ""}}};
  EXPECT_EQ(stage.logged("log(#api.create_cards({{title = 'a'}, {title = 'b'}}, "
                         "{exceeding_reason = 'x'})) "
                         "log(#api.update_cards{{card_id = 1, title = 'c'}}) "
                         "api.delete_cards{1, {card_id = 2}}"),
            "2|1");
  EXPECT_EQ(stage.calls,
            (Calls{{"POST", "/cards/createMany",
                    R"({"cards":[{"title":"a"},{"title":"b"}],"exceeding_reason":"x"})"},
                   {"POST", "/cards/updateMany", R"({"cards":[{"card_id":1,"title":"c"}]})"},
                   {"POST", "/cards/deleteMany", R"({"card_ids":[1,2]})"}}));
}

TEST(ApiBulk, OfNothingIsNoCall) {
  Stage stage;
  EXPECT_EQ(stage.logged("log(#api.create_cards{}, #api.update_cards{}) api.delete_cards{}"),
            "0\t0");
  EXPECT_TRUE(stage.calls.empty());
}

TEST(ApiBulk, RefusesWhatIsNoList) {
  Stage stage;
  EXPECT_EQ(stage.run("api.create_cards{title = 'a'}").message,
            "script:1: api.create_cards: the argument must be a list of cards: did you forget the "
            "outer braces?");
  for (const char* source : {"api.update_cards{card_id = 1}", "api.delete_cards{card_id = 1}"}) {
    const ScriptEnd end = stage.run(source);
    EXPECT_TRUE(end.message.ends_with("did you forget the outer braces?")) << end.message;
  }
  EXPECT_TRUE(stage.calls.empty());
}

TEST(ApiArguments, ThatAreRefusedAreShown) {
  const std::vector<std::pair<std::string, std::string>> refused{
      {"api.card('12a')",
       "api.card: card_id must be a whole number or a table that has it, not \"12a\""},
      {"api.card{card_id = -1}",
       "api.card: card_id must be a whole number or a table that has it, not -1"},
      {"api.card(json.null)",
       "api.card: card_id must be a whole number or a table that has it, not json.null"},
      {"api.card{title = 'x'}", "api.card: the table has no card_id"},
      {"api.update_cards{{card_id = 1}, {title = 'x'}}", "api.update_cards: item 2 has no card_id"},
      {"api.update_cards{7}", "api.update_cards: item 1 must be a table with a card_id, not 7"},
      {"api.delete_cards{1, 'x'}",
       "api.delete_cards: item 2: card_id must be a whole number or a table that has it, not "
       "\"x\""},
      {"api.create_card('x')", "api.create_card: the card must be a table, not \"x\""},
      {"api.query{a = json.null}", "the parameter a can not be a json.null"}};
  for (const auto& [source, message] : refused) {
    Stage stage;
    EXPECT_EQ(stage.run(source).message, "script:1: " + message);
    EXPECT_TRUE(stage.calls.empty());
  }
}

TEST(ApiFunctions, ThatDoNotExistAreNamedWithTheNearestThatDoes) {
  const std::string nil = "script:2: attempt to call a nil value ";
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"api.create_crad{}",
       nil + "(field 'create_crad'): there is no api.create_crad; did you mean api.create_card?"},
      {"api:crads()", nil + "(method 'crads'): there is no api.crads; did you mean api.cards?"},
      {"api.frobnicate()", nil + "(field 'frobnicate'): there is no api.frobnicate"},
      {"local mine = {} mine.create_crad()", nil + "(field 'create_crad')"},
      {"local mine = {} mine.card() api.card(7)", nil + "(field 'card')"},
      {"local all = api api = nil all.x(api.crad)",
       "script:2: attempt to index a nil value (global 'api')"},
      {"error('attempt to call a nil value (field \\'api.')",
       "script:2: attempt to call a nil value (field 'api."}};
  for (const auto& [source, message] : wrong) {
    Stage stage;
    EXPECT_EQ(stage.run("\n" + source).message, message);
  }
}

TEST(ApiFunctions, MayBeAskedForBeforeTheyAreCalled) {
  Stage stage;
  EXPECT_EQ(stage.logged("if api.create_crad then error('no') end api.mine = api.me "
                         "log(api.create_crad, getmetatable(api), api.mine == rawget(api, 'me'))"),
            "nil\tnil\ttrue");
}

TEST(ApiFunctions, AreCalledWithADot) {
  Stage stage;
  EXPECT_EQ(stage.run("\napi:create_card{title = 'x'}").message,
            "script:2: use api.create_card, with a dot");
  EXPECT_EQ(stage.run("\nreturn api:get('/me')").message, "script:2: use api.get, with a dot");
  EXPECT_EQ(stage.run("local mine = api api = {} mine:card(7)").message,
            "script:1: use api.card, with a dot");
  EXPECT_TRUE(stage.calls.empty());
}

TEST(ApiOfOneCard, HasCommentsAndSubtasks) {
  ApiStage stage{{{"GET /cards/7/comments", R"({"data":[{"comment_id":1}]})"},
                  {"POST /cards/7/comments", R"({"data":{"comment_id":2}})"},
                  {"GET /cards/7/subtasks", R"({"data":[]})"},
                  {"POST /cards/7/subtasks", R"({"data":[{"subtask_id":3}]})"}}};
  EXPECT_EQ(stage.logged("log(#api.comments(7), api.add_comment(7, 'hi').comment_id, "
                         "#api.subtasks(7), api.add_subtask(7, 'call').subtask_id) "
                         "api.add_subtask(7, {description = 'x', is_finished = 1})"),
            "1\t2\t0\t3");
  EXPECT_EQ(stage.calls.at(1).body, R"({"text":"hi"})");
  EXPECT_EQ(stage.calls.at(3).body, R"({"description":"call"})");
  EXPECT_EQ(stage.calls.at(4).body, R"({"description":"x","is_finished":1})");
  EXPECT_EQ(stage.run("api.add_comment(7)").message,
            "script:1: api.add_comment: the text is missing");
}

TEST(ApiCustomFields, AreSetByIdOrByNameAndTheNamesAreAskedForOnce) {
  ApiStage stage{{{"GET /customFields", R"({"data":[{"field_id":4,"name":"Cost"},
                                                    {"field_id":5,"name":"Due"}]})"},
                  {"PUT /cards/7/customFields/4", ""},
                  {"PUT /cards/7/customFields/5", ""},
                  {"PATCH /cards/7", R"({"data":[{"card_id":7}]})"}}};
  EXPECT_EQ(stage.logged("api.set_custom_field(7, 4, 'a') api.set_custom_field(7, 'Cost', 12.5) "
                         "api.set_custom_field(7, 'Due', {selected_value_ids_to_remove = {1}}) "
                         "log(api.set_custom_fields(7, {Due = 'x', [4] = 3}).card_id)"),
            "7");
  EXPECT_EQ(stage.calls,
            (Calls{{"PUT", "/cards/7/customFields/4", R"({"value":"a"})"},
                   get("/customFields"),
                   {"PUT", "/cards/7/customFields/4", R"({"value":12.5})"},
                   {"PUT", "/cards/7/customFields/5", R"({"selected_value_ids_to_remove":[1]})"},
                   {"PATCH", "/cards/7",
                    R"({"custom_fields_to_add_or_update":[{"field_id":4,"value":3},)"
                    R"({"field_id":5,"value":"x"}]})"}}));
  EXPECT_EQ(stage.run("api.set_custom_field(7, 'Nope', 1)").message,
            "script:1: api.set_custom_field: there is no custom field named Nope");
}

TEST(ApiCustomFields, AreReadOffACardOrAskedFor) {
  ApiStage stage{{{"GET /cards/7/customFields", R"({"data":[{"field_id":4,"value":"9"}]})"}}};
  EXPECT_EQ(
      stage.logged("local card = {card_id = 7, custom_fields = {{field_id = 4, value = '8'}}} "
                   "log(api.custom_field(card, 4), api.custom_field(card, 5)) "
                   "log(api.custom_field(7, 4))"),
      "8\tnil|9");
  EXPECT_EQ(stage.calls.size(), 1U);
}

TEST(ApiLists, ExistForBoardsAndPeople) {
  Stage stage;
  EXPECT_EQ(stage.logged("api.me() api.boards{is_archived = 0} api.board(1) api.columns(1) "
                         "api.lanes{board_id = 1} api.workflows(1) api.workspaces() "
                         "api.users{user_ids = {1, 2}} api.custom_fields()"),
            "");
  EXPECT_EQ(stage.calls,
            (Calls{get("/me"), get("/boards?is_archived=0"), get("/boards/1"),
                   get("/boards/1/columns"), get("/boards/1/lanes"), get("/boards/1/workflows"),
                   get("/workspaces"), get("/users?user_ids=1,2"), get("/customFields")}));
}

TEST(AnApiErrorOfTheModule, HasAllItsFieldsAndTheScriptsLine) {
  ApiStage stage{{}};
  EXPECT_EQ(stage.logged("local ok, e = pcall(api.update_card, 7, {title = 'x'}) "
                         "log(ok, e.status, e.code, e.method, e.path)"),
            "false\t404\tC101\tPATCH\t/cards/7");
  for (const char* source : {"\nlocal card = api.card(7)", "\nreturn api.card(7)",
                             "\nfor card in api.cards{} do end", "\nreturn api.cards{}()"}) {
    const ScriptEnd end = stage.run(source);
    EXPECT_TRUE(end.message.starts_with("script:2: GET /cards")) << source << ": " << end.message;
  }
}

TEST(AnApiErrorOfTheModule, NamesTheScriptsLineForABodyThatHasNoForm) {
  Stage stage;
  EXPECT_EQ(stage.run("\nreturn api.create_card{title = print}").message,
            "script:2: json: a function has no JSON form");
}

TEST(TheApiModule, IsOutOfReachOfAScriptThatReplacesWhatItUses) {
  ApiStage stage{{{"GET /cards?board_ids=7&page=1", page(1, 1, R"({"card_id":1})")}}};
  EXPECT_EQ(stage.logged(
                "local log = log "
                "api.get = function() error('mine') end api.query = api.get "
                "local all, kept = _G, api for name in next, all do all[name] = nil end api = kept "
                "for card in api.cards{board_ids = {7}} do log(card.card_id) end"),
            "1");
  stage.lines.clear();
  EXPECT_EQ(stage.logged("local strange = function() error('mine') end "
                         "getmetatable('').__index = strange getmetatable('').__len = strange "
                         "string.gsub, string.format, table.concat, table.sort = nil "
                         "for card in api.cards{board_ids = {7}} do log(card.card_id) end"),
            "1");
}

TEST(TheApiModule, RunsUnderTheScriptsBudget) {
  for (const char* source :
       {"local t = setmetatable({}, {__len = function() while true do end end}) "
        "while true do pcall(api.create_cards, t) end",
        "local t = setmetatable({}, {__pairs = function() return function() return 'a', 1 end "
        "end}) "
        "while true do pcall(api.query, t) end"}) {
    Stage stage;
    EXPECT_NE(stage.run(source).verdict, ScriptVerdict::success) << source;
    EXPECT_TRUE(stage.calls.empty());
  }
}

TEST(TheApiModule, TakesAnswersOfAnyShape) {
  for (const char* body :
       {"", "5", "null", "[]", "{}", R"({"data":null})", R"({"data":5})", R"({"data":[]})",
        R"({"data":{}})", R"({"data":{"data":null,"pagination":null}})",
        R"({"data":{"data":[],"pagination":{"all_pages":"x"}}})", R"({"data":[null]})"}) {
    for (const char* source : {"api.card(7)", "for _ in api.cards{} do end", "api.me()",
                               "api.comments(7)", "api.create_cards{{title = 'x'}}"}) {
      Stage stage;
      stage.answer = [&](const ScriptCall&) {
        return std::string_view{body}.empty() ? CallResult{204, std::nullopt}
                                              : CallResult{200, body};
      };
      EXPECT_EQ(stage.run(source), ScriptEnd{}) << source << " with " << body;
    }
  }
}

}  // namespace
}  // namespace coderunner::executor
