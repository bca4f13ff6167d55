#include "sim/virtual_transport.h"

#include <optional>
#include <utility>

#include "domain/limits.h"

namespace coderunner::sim {
namespace {

using namespace std::chrono_literals;

DispatchAnswer no_answer(std::string error, bool never_sent = false) {
  return {.execution = {}, .http_status = {}, .never_sent = never_sent, .error = std::move(error)};
}

DispatchAnswer answered(int status) {
  return {.execution = {}, .http_status = status, .error = {}};
}

DispatchAnswer answer_of(Reply reply) {
  switch (reply) {
    case Reply::refused: return no_answer("connection refused", true);
    case Reply::reset: return no_answer("connection reset");
    case Reply::ok: return answered(200);
    case Reply::forbidden: return answered(403);
    case Reply::unavailable: return answered(503);
  }
  return no_answer("connection reset");
}

// What the drainer hears instead of the executor's own answer; nullopt: nothing, ever.
std::optional<DispatchAnswer> distorted(AnswerFate fate, Reply reply) {
  switch (fate) {
    case AnswerFate::lost:
    case AnswerFate::reset:
    case AnswerFate::early_200:
    case AnswerFate::hasty_200: return std::nullopt;  // said, or not, at another time
    case AnswerFate::truncated: return no_answer("the answer is truncated");
    case AnswerFate::status_502: return answered(502);
    case AnswerFate::status_503: return answered(503);
    case AnswerFate::status_504: return answered(504);
    case AnswerFate::arrives:
    case AnswerFate::replayed: break;
  }
  return answer_of(reply);
}

}  // namespace

VirtualTransport::VirtualTransport(Shared& shared, VirtualExecutor& executor,
                                   const Secrets& secrets, ProcessRef drainer,
                                   std::function<void()> wake)
    : shared_(shared),
      executor_(executor),
      secrets_(secrets),
      drainer_(std::move(drainer)),
      wake_(std::move(wake)) {}

std::vector<DispatchAnswer> VirtualTransport::poll() { return std::exchange(answers_, {}); }

DispatchFate VirtualTransport::next_fate(ExecutionId execution) {
  const auto number = static_cast<std::size_t>(shared_.dispatches[execution]++);
  const Arrival* arrival = shared_.judge.arrival_of(execution);
  if (arrival == nullptr || number >= arrival->fates.size() || shared_.has_healed) return {};
  const DispatchFate fate = arrival->fates[number];
  if (fate.request != RequestFate::arrives) shared_.world.count(to_text(fate.request));
  if (fate.answer != AnswerFate::arrives) shared_.world.count(to_text(fate.answer));
  return fate;
}

void VirtualTransport::start(const Dispatch& dispatch) {
  auto connection =
      std::make_shared<Connection>(Connection{dispatch.execution, next_fate(dispatch.execution)});
  const DispatchFate& fate = connection->fate;
  shared_.world.trace("{} dispatches e{}: {}, {}", drainer_->name, dispatch.execution.value,
                      to_text(fate.request), to_text(fate.answer));
  const Settings& is = shared_.world.scenario.settings;
  answer_after(limits::doubtful_after(is.wall, limits::kReaperMargin) + limits::kDispatchSlack,
               connection, no_answer("timeout"));
  if (fate.answer == AnswerFate::early_200) answer_after(1ms, connection, answered(200));
  if (fate.request == RequestFate::lost) return;
  if (fate.request == RequestFate::refused)
    return answer_after(fate.travel, connection, no_answer("connection refused", true));

  Request request{dispatch.job, secrets_.nonce_hash(dispatch.nonce),
                  [this, connection](Reply reply) { hear(connection, reply); }};
  shared_.world.after(fate.travel, [this, connection, request] { send(connection, request); });
  if (fate.request == RequestFate::doubled)
    shared_.world.after(fate.travel + fate.second,
                        [this, connection, request] { send(connection, request); });
}

void VirtualTransport::send(const ConnectionRef& connection, const Request& request) {
  constexpr Millis kSoonAfterBegin{50};
  if (connection->fate.answer == AnswerFate::reset)
    answer_after(kSoonAfterBegin, connection, no_answer("connection reset"));
  if (connection->fate.answer == AnswerFate::hasty_200)
    answer_after(kSoonAfterBegin, connection, answered(200));
  executor_.arrive(request);
}

void VirtualTransport::hear(const ConnectionRef& connection, Reply reply) {
  auto answer = distorted(connection->fate.answer, reply);
  if (!answer) return;
  answer_after(connection->fate.answer_travel, connection, *answer);
  if (connection->fate.answer != AnswerFate::replayed) return;
  shared_.world.after(connection->fate.answer_travel + connection->fate.second,
                      [this, connection, again = *answer] {
                        connection->is_open = true;
                        deliver(*connection, again);
                      });
}

void VirtualTransport::answer_after(Millis delay, const ConnectionRef& connection,
                                    DispatchAnswer answer) {
  shared_.world.after(
      delay, [this, connection, answer = std::move(answer)] { deliver(*connection, answer); });
}

void VirtualTransport::deliver(Connection& connection, const DispatchAnswer& answer) {
  if (!connection.is_open || !drainer_->is_alive) return;
  connection.is_open = false;
  answers_.push_back(answer);
  answers_.back().execution = connection.execution;
  shared_.world.trace("{} hears of e{}: {} {}", drainer_->name, connection.execution.value,
                      answer.http_status.value_or(0), answer.error);
  wake_();
}

}  // namespace coderunner::sim
