#include <array>
#include <utility>

#include "fake/routes.h"
#include "fake/seed.h"

namespace coderunner::fake {
namespace {

Reply missing_board(std::int64_t board) { return missing_entry("board", {{"board_id", board}}); }

Reply list_boards(Account&, const Call&) { return data_reply(show_boards()); }

Reply get_board(Account&, const Call& call) {
  Json board = entry_of(show_boards(), "board_id", call.ids[0]);
  return board.is_null() ? missing_board(call.ids[0]) : data_reply(std::move(board));
}

Reply part_of_board(const Call& call, Json (*show)(std::int64_t board)) {
  if (find_board(call.ids[0]) == nullptr) return missing_board(call.ids[0]);
  return data_reply(show(call.ids[0]));
}

Reply list_columns(Account&, const Call& call) { return part_of_board(call, &show_columns); }
Reply list_lanes(Account&, const Call& call) { return part_of_board(call, &show_lanes); }
Reply list_workflows(Account&, const Call& call) { return part_of_board(call, &show_workflows); }

// Everything needed to draw a board, in one answer.
Json show_structure(std::int64_t board) {
  Json structure = entry_of(show_boards(), "board_id", board);
  structure["revision"] = 1;
  structure["settings"] = Json::object();
  structure["workflows"] = show_workflows(board);
  structure["columns"] = show_columns(board);
  structure["lanes"] = show_lanes(board);
  structure["merged_areas"] = Json::array();
  structure["cell_limits"] = Json::array();
  return structure;
}

Reply get_structure(Account&, const Call& call) { return part_of_board(call, &show_structure); }

Reply list_workspaces(Account&, const Call&) { return data_reply(show_workspaces()); }

Reply get_workspace(Account&, const Call& call) {
  Json workspace = entry_of(show_workspaces(), "workspace_id", call.ids[0]);
  if (workspace.is_null()) return missing_entry("workspace", {{"workspace_id", call.ids[0]}});
  return data_reply(std::move(workspace));
}

constexpr std::array<Route, 8> kBoards{{{"GET", "/boards", &list_boards},
                                        {"GET", "/boards/{id}", &get_board},
                                        {"GET", "/boards/{id}/columns", &list_columns},
                                        {"GET", "/boards/{id}/lanes", &list_lanes},
                                        {"GET", "/boards/{id}/workflows", &list_workflows},
                                        {"GET", "/boards/{id}/currentStructure", &get_structure},
                                        {"GET", "/workspaces", &list_workspaces},
                                        {"GET", "/workspaces/{id}", &get_workspace}}};

}  // namespace

std::span<const Route> board_routes() { return kBoards; }

}  // namespace coderunner::fake
