#include "executor/worker_place.h"

#include <charconv>

#include "executor/curl_api_client.h"
#include "executor/roles.h"
#include "executor/spawn.h"

namespace coderunner::executor {

WorkerPlace::WorkerPlace(Scoreboard board, const Clock& clock)
    : board_(std::move(board)), master_(Descriptor{kWorkerMasterChannel}), clock_(&clock) {}

std::optional<WorkerPlace> WorkerPlace::take(const char* process_name, const Clock& clock,
                                             Events& events) {
  ignore_group_signals(process_name);
  prepare_curl();
  auto board = Scoreboard::map(Descriptor{kWorkerScoreboard});
  if (board) return WorkerPlace{std::move(*board), clock};
  events.record(
      {Level::error, "worker_not_started", std::nullopt, {{"error", board.error().message}}});
  return std::nullopt;
}

std::optional<Message> WorkerPlace::next_order() {
  for (;;) {
    master_.await(*clock_);
    auto message = master_.take();
    if (!message && (master_.is_gone() || master_.must_stop())) return std::nullopt;
    if (!message) continue;
    if (message->verb == kExit) return std::nullopt;
    if (message->verb != kHello) return message;
    const std::string& text = message->text;
    std::from_chars(text.data(), text.data() + text.size(), slot_);
  }
}

void WorkerPlace::tell_idle() {
  enter(Stage::idle);
  master_.say(kIdle);
}

}  // namespace coderunner::executor
