#include "executor/worker.h"

#include <charconv>
#include <utility>

#include "executor/row_finish.h"
#include "executor/run.h"
#include "executor/worker_place.h"

namespace coderunner::executor {
namespace {

std::string_view next_word(std::string_view& text) {
  const std::size_t space = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, space);
  text.remove_prefix(std::min(space + 1, text.size()));
  return word;
}

std::int64_t number_in(std::string_view word) {
  std::int64_t number = 0;
  std::from_chars(word.data(), word.data() + word.size(), number);
  return number;
}

class Worker {
 public:
  Worker(const RunSettings& settings, const WorkerParts& parts, WorkerPlace place)
      : settings_(settings), parts_(parts), place_(std::move(place)) {}

  void serve() {
    while (auto order = place_.next_order()) obey(*order);
  }

 private:
  void obey(Message& order) {
    if (order.verb == kConnection && order.descriptors.size() == 1)
      serve_connection(order.descriptors.front().release());
    if (order.verb == kAbandon) abandon(order.text);
  }

  void serve_connection(int socket) {
    place_.enter(Stage::reading);
    parts_.serve_one(socket, [this](const RunRequest& request) {
      return Run{{settings_, parts_, place_.master(), place_.slot()}}.answer(request);
    });
    place_.tell_idle();
  }

  // A run whose worker died. Conditional on its run id, so whatever has happened meanwhile stands.
  void abandon(std::string_view text) {
    const ExecutionId execution{number_in(next_word(text))};
    const RunId run{std::string{next_word(text)}};
    const Outcome reason{ErrorCode::ended_from_outside, std::string{text}};
    if (finish_row({execution, run, reason, nullptr, RowOf::dead_worker},
                   {parts_.ledger, place_.master(), parts_.clock, parts_.events, place_.slot()}))
      place_.master().say(kAbandoned);
    place_.enter(Stage::idle);
  }

  const RunSettings& settings_;
  const WorkerParts& parts_;
  WorkerPlace place_;
};

}  // namespace

int run_worker(const RunSettings& settings, const WorkerParts& parts) {
  auto place = WorkerPlace::take("cr-worker", parts.clock, parts.events);
  if (!place) return 1;
  Worker{settings, parts, std::move(*place)}.serve();
  return 0;
}

}  // namespace coderunner::executor
