#include "sim/virtual_worker.h"

#include <algorithm>
#include <utility>

#include "domain/sent_changes.h"

namespace coderunner::sim {
namespace {

using namespace std::chrono_literals;

// A script nobody drew: of a planted row.
Script plain_script() { return {}; }

Outcome outside(std::string message) { return {ErrorCode::ended_from_outside, std::move(message)}; }

// Only the first attempt meets its fate; a re-sent call finds all well.
std::optional<int> status_of(ApiFate fate) {
  switch (fate) {
    case ApiFate::ok: return 200;
    case ApiFate::failed_500: return 500;
    case ApiFate::rate_limited: return 429;
    case ApiFate::done_no_answer:
    case ApiFate::no_answer: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

VirtualWorker::VirtualWorker(Shared& shared, int number, Told told)
    : shared_(shared),
      process_(std::make_shared<Process>(Process{Role::worker, fmt::format("w{}", number)})),
      id_{fmt::format("vhost|boot|ns|{}|{}", number, number)},
      seams_(shared, process_),
      told_(std::move(told)) {
  process_->on_death = [this] {
    reply(Reply::reset);
    told_.died(*this);
  };
}

void VirtualWorker::take(Request request) {
  is_idle_ = false;
  request_ = std::move(request);
  shared_.world.after(1ms, process_, [this] { begin(); });
}

bool VirtualWorker::is_stuck_in(const RunId& run) const {
  const bool stands_still = !is_finishing_ || process_->freezes > 0;
  return process_->is_alive && !is_idle_ && run_ == run && stands_still;
}

void VirtualWorker::begin() {
  run_ = {fmt::format("run-{}-{}", process_->name, ++runs_)};
  noted_.reset();
  wall_ = shared_.world.now() + shared_.world.scenario.settings.wall;
  Begin begin{request_.job, request_.nonce, run_, id_, shared_.world.clock.utc_now()};
  begin.before_commit = [this](ExecutionId execution) { noted_ = execution; };
  auto begun = seams_.begin(begin);
  if (!begun && begun.error().kind == Failure::unknown_outcome && noted_) {
    shared_.judge.nothing_ran(run_);
    begun_ = {.execution = *noted_};
    outcome_ = outside("nothing ran: whether it had begun could not be told");
    last_reply_ = Reply::unavailable;
    return finish();
  }
  if (!begun || std::holds_alternative<BeginRefused>(*begun)) {
    noted_.reset();
    reply(begun ? Reply::forbidden : Reply::unavailable);
    return rest();
  }
  start_script(std::get<Begun>(*std::move(begun)));
}

void VirtualWorker::start_script(Begun begun) {
  begun_ = std::move(begun);
  noted_ = begun_.execution;
  const Arrival* arrival = shared_.judge.arrival_of(begun_.execution);
  script_ = arrival != nullptr ? arrival->script : plain_script();
  call_ = 0;
  attempt_ = 1;
  last_reply_ = Reply::ok;
  shared_.judge.script_started(run_, begun_.execution, wall_, process_);
  told_.began(*this, run_);
  next();
}

Millis VirtualWorker::to_wall() const {
  return std::chrono::floor<Millis>(wall_ - shared_.world.now());
}

bool VirtualWorker::is_at_wall() {
  if (to_wall() > Millis{0}) return false;
  shared_.world.count("wall");
  end(outside(ended_from_outside("wall: still running", sent_)));
  return true;
}

void VirtualWorker::think(Millis duration, void (VirtualWorker::*then)()) {
  shared_.world.after(std::clamp(duration, Millis{0}, std::max(to_wall(), Millis{0})), process_,
                      [this, then] {
                        if (!is_at_wall()) (this->*then)();
                      });
}

void VirtualWorker::next() {
  if (call_ == script_.steps.size()) return think(script_.last_think, &VirtualWorker::end_script);
  think(script_.steps[call_].think, &VirtualWorker::pass_gate);
}

// A gate that can not be read is an open one (rulings 12).
void VirtualWorker::pass_gate() {
  const UtcTime now = shared_.world.clock.utc_now();
  const auto gate = begun_.key ? seams_.closed(*begun_.key, now)
                               : Result<std::optional<Gate>>{std::optional<Gate>{}};
  if (gate && *gate && (*gate)->until > now) {
    const Millis wait = (*gate)->until - now;
    if (wait >= limits::kLongRetryAfter + limits::kGateMargin || wait >= to_wall())
      return end({ErrorCode::script_error, "rate limited"});
    return think(wait, &VirtualWorker::pass_gate);
  }
  retry_ = limits::kStoreRetryMin;
  if (script_.steps[call_].is_effect) return announce();
  send();
}

LogLine VirtualWorker::line_of(const ApiCall& call, std::string message) const {
  LogLine line;
  line.at = shared_.world.clock.utc_now();
  line.level = "info";
  line.message = std::move(message);
  line.call = call;
  return line;
}

void VirtualWorker::announce() {
  const ApiCall call{
      .method = "POST", .path = fmt::format("/{}", call_), .status = {}, .attempt = attempt_};
  std::vector<LogLine> lines = pending_;
  lines.push_back(line_of(call, "sending POST"));
  const auto kept = seams_.announce(begun_.execution, run_, lines);
  if (kept && *kept == AnnounceAnswer::not_this_run) {
    shared_.world.count("fenced");
    return end(outside("the row has ended otherwise"));
  }
  if (kept) {
    pending_.clear();
    shared_.judge.announced(run_, static_cast<int>(call_));
  }
  if (is_at_wall()) return;
  if (!kept) {
    const Millis pause = std::exchange(retry_, std::min(retry_ * 2, limits::kStoreRetryMax));
    return think(pause, &VirtualWorker::announce);
  }
  sent_.push_back(sent_change(call));
  send();
}

void VirtualWorker::send() {
  const ApiStep& step = script_.steps[call_];
  const ApiFate fate = attempt_ == 1 ? step.fate : ApiFate::ok;
  if (fate != ApiFate::ok) shared_.world.count(to_text(fate));
  const bool lands = fate == ApiFate::ok || fate == ApiFate::done_no_answer;
  if (step.is_effect) shared_.judge.sent(run_, static_cast<int>(call_));
  if (step.is_effect && lands)
    shared_.world.after(
        step.takes / 2,
        [&judge = shared_.judge, run = run_, execution = begun_.execution,
         call = static_cast<int>(call_)] { judge.effect_landed(run, execution, call); });
  think(step.takes, &VirtualWorker::hear);
}

void VirtualWorker::hear() {
  const ApiStep& step = script_.steps[call_];
  AttemptAnswer answer{!step.is_effect, status_of(attempt_ == 1 ? step.fate : ApiFate::ok), {}, {}};
  if (answer.status == 429) answer.hint = RetryHint{step.retry_after, false};
  if (step.is_effect) {
    const ApiCall call{.method = "POST",
                       .path = fmt::format("/{}", call_),
                       .status = answer.status,
                       .attempt = attempt_};
    sent_.back() = sent_change(call);
    pending_.push_back(line_of(call, "POST"));
  }
  const LadderStep ladder = next_step(answer, attempt_, to_wall(), LadderPolicy{});
  if (ladder.close_gate_for && begun_.key) {
    const UtcTime now = shared_.world.clock.utc_now();
    const Gate gate{*begun_.key, gate_until(now, *ladder.close_gate_for, GatePolicy{}), now, now,
                    *ladder.close_gate_for};
    if (!seams_.close(gate, now)) shared_.world.trace("{} can not close a gate", process_->name);
  }
  if (const auto* raise = std::get_if<Raise>(&ladder.move))
    return end({ErrorCode::script_error, raise->reason});
  if (const auto* again = std::get_if<WaitThenResend>(&ladder.move)) {
    ++attempt_;
    return think(again->wait, &VirtualWorker::pass_gate);
  }
  ++call_;
  attempt_ = 1;
  next();
}

void VirtualWorker::end_script() {
  if (script_.fails) return end({ErrorCode::script_error, "the script raised an error"});
  end({});
}

void VirtualWorker::end(Outcome outcome) {
  outcome_ = std::move(outcome);
  shared_.judge.script_ended(run_, outcome_);
  finish();
}

void VirtualWorker::bury(ExecutionId execution, const RunId& run) {
  is_idle_ = false;
  shared_.world.after(1ms, process_, [this, execution, run] {
    shared_.world.count("buried");
    begun_ = {.execution = execution};
    run_ = run;
    outcome_ = outside("the worker process died");
    is_burying_ = true;
    finish();
  });
}

// The log first: a row that has ended tells all it did. A dead worker's row is told from its log.
bool VirtualWorker::flush_log() {
  if (is_burying_) {
    const auto sent = seams_.sent_changes(begun_.execution);
    if (sent) outcome_.message = reaped("the worker process died", *sent);
    return sent.has_value();
  }
  if (pending_.empty()) return true;
  if (!seams_.append_log(begun_.execution, pending_)) return false;
  pending_.clear();
  return true;
}

void VirtualWorker::finish() {
  is_finishing_ = true;
  retry_ = std::max(retry_, limits::kStoreRetryMin);
  const auto kept =
      flush_log() ? seams_.finish(begun_.execution, run_, outcome_, shared_.world.clock.utc_now())
                  : Result<FinishAnswer>{fail(Failure::unavailable, "its log is not kept")};
  if (!kept) {
    const Millis pause = std::exchange(retry_, std::min(retry_ * 2, limits::kStoreRetryMax));
    return shared_.world.after(pause, process_, [this] { finish(); });
  }
  if (*kept == FinishAnswer::not_this_run) shared_.world.count("finished too late");
  noted_.reset();
  reply(last_reply_);
  rest();
}

void VirtualWorker::reply(Reply reply) {
  if (auto told = std::exchange(request_.reply, {})) told(reply);
}

void VirtualWorker::rest() {
  is_idle_ = true;
  is_finishing_ = is_burying_ = false;
  sent_.clear();
  pending_.clear();
  retry_ = Millis{0};
  told_.idle(*this);
}

}  // namespace coderunner::sim
