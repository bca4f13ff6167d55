// What a run had sent that may have changed something, and how the end of a row from outside says
// it (contract section 4). Used by whoever ends a run: its worker, the next one, the drainer, the
// reaper. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/execution.h"

namespace coderunner {

// "POST /cards: 200"; "POST /cards: no answer" where none came, or none is known.
std::string sent_change(const ApiCall& call);

// The calls but GETs among a run's log lines, in order: a line that says what is being sent, and
// the line of its result, make one. A sent call with no result line (its worker died) has no
// answer.
std::vector<std::string> sent_changes(const std::vector<LogLine>& lines);

// "<reason>; it had sent 2: POST /cards: 200, DELETE /cards/7: no answer"
std::string ended_from_outside(std::string_view reason, const std::vector<std::string>& sent);

// The same, of a row that somebody else than its own worker ended: its finished_at is theirs, so it
// has no duration. was_reaped() knows such rows by the message's beginning.
std::string reaped(std::string_view reason, const std::vector<std::string>& sent);
bool was_reaped(std::optional<int> error_code, std::string_view error_message);

// Where a run was: "vm, pid 1955". An id that is not in the form of contract section 3, as it is.
std::string executor_place(const ExecutorId& executor);

}  // namespace coderunner
