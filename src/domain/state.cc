#include "domain/state.h"

#include <array>
#include <utility>

namespace coderunner {
namespace {

constexpr std::array<std::pair<Status, std::string_view>, 4> kStatuses{{
    {Status::queued, "queued"},
    {Status::running, "running"},
    {Status::success, "success"},
    {Status::error, "error"},
}};

constexpr std::array<std::pair<State, std::string_view>, 9> kStates{{
    {State::queued, "queued"},
    {State::running, "running"},
    {State::succeeded, "succeeded"},
    {State::failed, "failed"},
    {State::invalid, "invalid"},
    {State::rejected, "rejected"},
    {State::cancelled, "cancelled"},
    {State::never_dispatched, "never_dispatched"},
    {State::killed, "killed"},
}};

template <class Words, class Value>
std::string_view word_of(const Words& words, Value value) {
  for (const auto& [key, word] : words)
    if (key == value) return word;
  return {};
}

template <class Value, class Words>
std::optional<Value> value_of(const Words& words, std::string_view text) {
  for (const auto& [key, word] : words)
    if (word == text) return key;
  return std::nullopt;
}

State shown_error(std::optional<int> error_code, bool started) {
  const int code = error_code.value_or(0);
  if (code == number(ErrorCode::ended_from_outside))
    return started ? State::killed : State::never_dispatched;
  if (started) return State::failed;
  if (code == number(ErrorCode::does_not_parse)) return State::invalid;
  if (code == number(ErrorCode::rejected_for_depth)) return State::rejected;
  if (code == number(ErrorCode::cancelled)) return State::cancelled;
  return State::failed;
}

}  // namespace

std::string_view to_text(Status status) { return word_of(kStatuses, status); }
std::optional<Status> status_from_text(std::string_view text) {
  return value_of<Status>(kStatuses, text);
}
std::string_view to_text(State state) { return word_of(kStates, state); }
std::optional<State> state_from_text(std::string_view text) {
  return value_of<State>(kStates, text);
}

State shown_state(Status status, std::optional<int> error_code, bool started) {
  switch (status) {
    case Status::queued: return State::queued;
    case Status::running: return State::running;
    case Status::success: return State::succeeded;
    case Status::error: return shown_error(error_code, started);
  }
  return State::failed;
}

}  // namespace coderunner
