#include "executor/worker.h"

#include <charconv>
#include <utility>

#include "executor/curl_api_client.h"
#include "executor/roles.h"
#include "executor/row_finish.h"
#include "executor/run.h"
#include "executor/spawn.h"

namespace coderunner::executor {
namespace {

std::string_view next_word(std::string_view& text) {
  const std::size_t space = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, space);
  text.remove_prefix(std::min(space + 1, text.size()));
  return word;
}

template <class Number>
Number number_in(std::string_view word) {
  Number number{};
  std::from_chars(word.data(), word.data() + word.size(), number);
  return number;
}

class Worker {
 public:
  Worker(const RunSettings& settings, const WorkerParts& parts, Scoreboard board)
      : settings_(settings),
        parts_(parts),
        board_(std::move(board)),
        master_(Descriptor{kWorkerMasterChannel}) {}

  int serve() {
    for (;;) {
      master_.await(parts_.clock);
      auto message = master_.take();
      if (!message && (master_.is_gone() || master_.must_stop())) return 0;
      if (!message) continue;
      if (message->verb == kExit) return 0;
      obey(*message);
    }
  }

 private:
  void obey(Message& message) {
    if (message.verb == kHello) slot_ = number_in<int>(message.text);
    if (message.verb == kConnection && message.descriptors.size() == 1)
      serve_connection(message.descriptors.front().release());
    if (message.verb == kAbandon) abandon(message.text);
  }

  void serve_connection(int socket) {
    enter(Stage::reading);
    parts_.serve_one(socket, [this](const RunRequest& request) {
      return Run{{settings_, parts_, master_, {board_, slot_}}}.answer(request);
    });
    enter(Stage::idle);
    master_.say(kIdle);
  }

  // A run whose worker died. Conditional on its run id, so whatever has happened meanwhile stands.
  void abandon(std::string_view text) {
    const ExecutionId execution{number_in<std::int64_t>(next_word(text))};
    const RunId run{std::string{next_word(text)}};
    const Outcome reason{ErrorCode::ended_from_outside, std::string{text}};
    if (finish_row({execution, run, reason, nullptr, RowOf::dead_worker},
                   {parts_.ledger, master_, parts_.clock, parts_.events, {board_, slot_}}))
      master_.say(kAbandoned);
    enter(Stage::idle);
  }

  void enter(Stage stage) { board_.enter(slot_, stage, parts_.clock.mono_now()); }

  const RunSettings& settings_;
  const WorkerParts& parts_;
  Scoreboard board_;
  MasterLink master_;
  int slot_ = 0;
};

}  // namespace

int run_worker(const RunSettings& settings, const WorkerParts& parts) {
  ignore_group_signals("cr-worker");
  prepare_curl();
  auto board = Scoreboard::map(Descriptor{kWorkerScoreboard});
  if (!board) {
    parts.events.record(
        {Level::error, "worker_not_started", std::nullopt, {{"error", board.error().message}}});
    return 1;
  }
  return Worker{settings, parts, std::move(*board)}.serve();
}

}  // namespace coderunner::executor
