#include "sim/replay_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/ensure.h"
#include "domain/retry_ladder.h"
#include "services/drainer.h"
#include "sim/event_queue.h"
#include "sim/memory_store.h"
#include "sim/replay_tally.h"
#include "sim/virtual_clock.h"

namespace coderunner::sim {
namespace {

// ---- the seams: nothing secret, nothing random, nobody dies

class CountedEntropy final : public Entropy {
 public:
  void fill(std::span<std::uint8_t> bytes) override {
    std::uint64_t number = ++filled_;
    for (std::uint8_t& byte : bytes) {
      byte = static_cast<std::uint8_t>(number);
      number >>= 8;
    }
  }

 private:
  std::uint64_t filled_ = 0;
};

class NoSecrets final : public Secrets {
 public:
  AccountId account_id(std::string_view account) const override { return {std::string{account}}; }
  ApiKeyHash api_key_hash(std::string_view key) const override { return {std::string{key}}; }
  RequestHash request_hash(std::string_view text) const override { return {std::string{text}}; }
  NonceHash nonce_hash(const Nonce& nonce) const override { return {nonce.value}; }
  std::string seal(std::string_view key) override { return std::string{key}; }
  Result<std::string> open(std::string_view sealed) const override { return std::string{sealed}; }
};

class EverybodyLives final : public ProcessProbe {
 public:
  Liveness probe(const ExecutorId&) const override { return Liveness::alive; }
};

class NoEvents final : public Events {
 public:
  void record(const Event&) override {}
};

class StraightTransport final : public Transport {
 public:
  explicit StraightTransport(std::function<void(const Dispatch&)> deliver)
      : deliver_(std::move(deliver)) {}
  void start(const Dispatch& dispatch) override { deliver_(dispatch); }
  std::vector<DispatchAnswer> poll() override { return std::exchange(answers_, {}); }
  void answer(ExecutionId execution) { answers_.push_back({execution, 200, false, {}}); }

 private:
  std::function<void(const Dispatch&)> deliver_;
  std::vector<DispatchAnswer> answers_;
};

// ---- the world

struct Run {
  const TraceArrival* arrival = nullptr;
  ExecutionId execution;
  RunId id;
  Millis began{0};
  int call = 0;
  int attempt = 1;
};

class Queue {
 public:
  Queue(const std::vector<TraceArrival>& trace, const ReplayOptions& options)
      : options_(options),
        quota_(options.quota),
        transport_([this](const Dispatch& dispatch) {
          plan(now(), [this, dispatch] { begin(dispatch); });
        }),
        drainer_({.me = {"replay"}, .limits = options.plan, .doubtful_after = kNever},
                 {store_, store_, transport_, probe_, secrets_, entropy_, clock_, events_}) {
    ladder_.max_attempts = options.max_attempts;
    for (const TraceArrival& arrival : trace)
      plan(arrival.at, [this, &arrival] { arrive(arrival); });
  }

  ReplayReport run() {
    while (const auto next = queue_.next_time()) {
      clock_.advance_to(*next);
      queue_.take()();
    }
    return tally_.report();
  }

 private:
  static constexpr Millis kNever{std::chrono::hours{24 * 365 * 100}};

  Millis now() const { return std::chrono::floor<Millis>(clock_.mono_now() - clock_.kStart); }
  void plan(Millis at, std::function<void()> event) {
    queue_.plan(clock_.kStart + at, std::move(event));
  }

  // ---- the daemon

  void arrive(const TraceArrival& arrival) {
    tally_.arrived(arrival.account);
    std::optional<ExecutionId> admitted;
    store_.admit({.ref = {fmt::to_string(++admissions_)},
                  .account = arrival.account,
                  .account_id = secrets_.account_id(arrival.account),
                  .key = secrets_.api_key_hash(arrival.key),
                  .sealed_key = secrets_.seal(arrival.key),
                  .source = "replayed",
                  .queued_at = clock_.utc_now(),
                  .caps = {options_.max_queued_per_account, options_.max_queued}},
                 [&](const Result<AdmitAnswer>& answer) {
                   if (const auto* rows = std::get_if<Admitted>(&*answer))
                     admitted = rows->execution;
                 });
    if (!admitted) return tally_.rejected(arrival.account);
    arrivals_[*admitted] = &arrival;
    waiting_.insert({arrival.at, *admitted});
    tell_backlog();
    wake();
  }

  void tell_backlog() {
    if (!waiting_.empty())
      tally_.backlog(static_cast<int>(waiting_.size()), now() - waiting_.begin()->first);
  }

  void wake() { plan_tick(now()); }
  void plan_tick(Millis at) {
    plan(at, [this, number = ++planned_] {
      if (number != planned_) return;  // only the latest plan happens
      const Millis next = drainer_.tick();
      const bool is_idle = waiting_.empty() && drainer_.status().outstanding == 0;
      if (!is_idle && number == planned_) plan_tick(now() + std::max(next, Millis{1}));
    });
  }

  // ---- the executor

  void begin(const Dispatch& dispatch) {
    const RunId id{fmt::to_string(++runs_)};
    const auto answer = store_.begin({dispatch.job, secrets_.nonce_hash(dispatch.nonce), id,
                                      ExecutorId{"replay"}, clock_.utc_now()});
    ensure(answer && std::holds_alternative<Begun>(*answer), "nothing in a replay loses a nonce");
    const TraceArrival& arrival = *arrivals_.at(dispatch.execution);
    tell_backlog();
    waiting_.erase({arrival.at, dispatch.execution});
    tally_.began(arrival.account, now() - arrival.at);
    pass_gate({&arrival, dispatch.execution, id, now(), 0, 1});
  }

  Millis to_wall(const Run& run) const { return run.began + options_.wall - now(); }

  // As the broker: a call waits for its key's gate first, by the ladder's own rules.
  void pass_gate(const Run& run) {
    if (run.call == run.arrival->api_calls) return end(run, RunFate::succeeded);
    const UtcTime utc = clock_.utc_now();
    const auto gate = *store_.closed(secrets_.api_key_hash(run.arrival->key), utc);
    if (!gate) return call(run);
    const Millis wait = gate->until - utc;
    if (wait >= ladder_.long_retry_after + ladder_.gate.margin || wait >= to_wall(run))
      return end(run, RunFate::failed);
    after(wait, run, [this](const Run& later) { pass_gate(later); });
  }

  void call(Run run) {
    const TraceArrival& arrival = *run.arrival;
    const QuotaWindows::Answer answer = quota_.call(arrival.key, now());
    if (answer.retry_after) return limited(run, *answer.retry_after);
    const Millis takes = arrival.call_takes(run.call++);
    run.attempt = 1;
    after(takes, run, [this, is_last = answer.remaining == 0](const Run& later) {
      if (is_last) close_spent_minute(later);
      pass_gate(later);
    });
  }

  void limited(Run run, Millis retry_after) {
    const std::string header = fmt::to_string(retry_after / std::chrono::seconds{1});
    const LadderStep step =
        next_step({.status = 429, .hint = retry_hint({{header}, {}, {}, {}}, ladder_.gate)},
                  run.attempt, to_wall(run), ladder_);
    if (step.close_gate_for) {
      const UtcTime utc = clock_.utc_now();
      close_gate({.key = secrets_.api_key_hash(run.arrival->key),
                  .until = gate_until(utc, *step.close_gate_for, ladder_.gate),
                  .first_seen = utc,
                  .last_seen = utc,
                  .hint = *step.close_gate_for});
    }
    const auto* again = std::get_if<WaitThenResend>(&step.move);
    if (again == nullptr) return end(run, RunFate::failed);
    ++run.attempt;
    after(again->wait, run, [this](const Run& later) { pass_gate(later); });
  }

  // The answer said that nothing is left of its minute.
  void close_spent_minute(const Run& run) {
    const UtcTime utc = clock_.utc_now();
    const ApiKeyHash key = secrets_.api_key_hash(run.arrival->key);
    close_gate({.key = key,
                .until = minute_end(*store_.last(key), utc, ladder_.gate),
                .first_seen = utc,
                .last_seen = utc,
                .status = 200});
  }

  void close_gate(const Gate& seen) {
    ensure(store_.close(seen, seen.last_seen).has_value(), "a memory store is never away");
  }

  void after(Millis wait, const Run& run, std::function<void(const Run&)> then) {
    plan(std::min(now() + wait, run.began + options_.wall), [this, run, then = std::move(then)] {
      if (to_wall(run) <= Millis{0}) return end(run, RunFate::killed_at_wall);
      then(run);
    });
  }

  void end(const Run& run, RunFate fate) {
    Outcome outcome;
    if (fate == RunFate::failed) outcome = {ErrorCode::script_error, "rate limited"};
    if (fate == RunFate::killed_at_wall) outcome = {ErrorCode::ended_from_outside, "wall"};
    const auto finished = store_.finish(run.execution, run.id, outcome, clock_.utc_now());
    ensure(finished && *finished == FinishAnswer::finished, "one run, one finish");
    tally_.ended(run.arrival->account, fate, now() - run.began, now());
    transport_.answer(run.execution);
    wake();
  }

  const ReplayOptions& options_;
  QuotaWindows quota_;
  LadderPolicy ladder_;
  EventQueue queue_;
  VirtualClock clock_;
  ReplayTally tally_;
  MemoryStore store_;
  CountedEntropy entropy_;
  NoSecrets secrets_;
  EverybodyLives probe_;
  NoEvents events_;
  StraightTransport transport_;
  Drainer drainer_;
  std::map<ExecutionId, const TraceArrival*> arrivals_;
  std::set<std::pair<Millis, ExecutionId>> waiting_;
  std::int64_t admissions_ = 0;
  std::int64_t runs_ = 0;
  std::int64_t planned_ = 0;
};

}  // namespace

ReplayReport replay_queue(const std::vector<TraceArrival>& trace, const ReplayOptions& options) {
  return std::make_unique<Queue>(trace, options)->run();
}

}  // namespace coderunner::sim
