// What a row's columns mean: the stored status, the word it is shown as, and the moves that are
// legal (contract section 4). Pure.
#pragma once

#include <optional>
#include <string_view>

#include "domain/error_code.h"

namespace coderunner {

enum class Status { queued, running, success, error };  // the `status` column

enum class State {  // the word shown
  queued,
  running,
  succeeded,
  failed,
  invalid,
  rejected,
  cancelled,
  never_dispatched,
  killed,
};

std::string_view to_text(Status status);
std::optional<Status> status_from_text(std::string_view text);
std::string_view to_text(State state);
std::optional<State> state_from_text(std::string_view text);

// `started` is whether started_at is set: with code 303 it alone tells never_dispatched from
// killed.
State shown_state(Status status, std::optional<int> error_code, bool started);

constexpr bool is_finished(Status status) {
  return status == Status::success || status == Status::error;
}

// queued -> running -> success | error; queued -> error (cancelled, never dispatched). Nothing
// leaves a finished row.
constexpr bool may_become(Status from, Status to) {
  switch (from) {
    case Status::queued: return to == Status::running || to == Status::error;
    case Status::running: return is_finished(to);
    case Status::success:
    case Status::error: return false;
  }
  return false;
}

}  // namespace coderunner
