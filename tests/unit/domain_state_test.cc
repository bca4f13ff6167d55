#include <gtest/gtest.h>

#include "domain/state.h"

namespace coderunner {
namespace {

TEST(State, IsTheWordOfTheContractForEveryRow) {
  struct Row {
    Status status;
    std::optional<int> code;
    bool started;
    State shown;
  };
  for (const Row& row :
       {Row{Status::queued, {}, false, State::queued},
        Row{Status::running, {}, true, State::running},
        Row{Status::success, {}, true, State::succeeded},
        Row{Status::error, 301, true, State::failed}, Row{Status::error, 302, true, State::failed},
        Row{Status::error, 201, false, State::invalid},
        Row{Status::error, 107, false, State::rejected},
        Row{Status::error, 108, false, State::cancelled},
        Row{Status::error, 303, false, State::never_dispatched},
        Row{Status::error, 303, true, State::killed}, Row{Status::error, 106, false, State::failed},
        Row{Status::error, 113, true, State::failed}, Row{Status::error, {}, false, State::failed}})
    EXPECT_EQ(shown_state(row.status, row.code, row.started), row.shown) << to_text(row.shown);
}

TEST(State, WordsReadBackAsWhatTheyName) {
  for (const State state :
       {State::queued, State::running, State::succeeded, State::failed, State::invalid,
        State::rejected, State::cancelled, State::never_dispatched, State::killed})
    EXPECT_EQ(state_from_text(to_text(state)), state);
  for (const Status status : {Status::queued, Status::running, Status::success, Status::error})
    EXPECT_EQ(status_from_text(to_text(status)), status);
  EXPECT_FALSE(state_from_text("Queued").has_value());
}

TEST(State, NothingLeavesAFinishedRowAndRunningNeverGoesBack) {
  for (const Status to : {Status::queued, Status::running, Status::success, Status::error}) {
    EXPECT_FALSE(may_become(Status::success, to));
    EXPECT_FALSE(may_become(Status::error, to));
  }
  EXPECT_TRUE(may_become(Status::queued, Status::running));
  EXPECT_TRUE(may_become(Status::queued, Status::error));
  EXPECT_FALSE(may_become(Status::queued, Status::success));
  EXPECT_FALSE(may_become(Status::running, Status::queued));
}

}  // namespace
}  // namespace coderunner
