#include "services/drainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "domain/back_off.h"
#include "domain/sent_changes.h"

namespace coderunner {

Drainer::Drainer(DrainerSettings settings, DrainerParts parts)
    : settings_(std::move(settings)), parts_(parts) {}

Millis Drainer::tick() {
  now_ = parts_.clock.utc_now();
  mono_ = parts_.clock.mono_now();
  for (DispatchAnswer& answer : parts_.transport.poll()) {
    const auto found = outstanding_.find(answer.execution);
    if (found != outstanding_.end()) found->second.answer = std::move(answer);
  }
  const Result<Millis> next = run();
  if (next) {
    last_tick_ = now_;
    return std::clamp(*next, Millis{0}, settings_.poll_interval);
  }
  parts_.events.record({Level::error, "tick_failed", {}, {{"error", next.error().message}}});
  return settings_.poll_interval;
}

DrainerStatus Drainer::status() const {
  return {.last_tick = last_tick_,
          .executor_down_until = executor_down_until(),
          .executor_error = executor_error_,
          .outstanding = static_cast<int>(outstanding_.size())};
}

// The order is ruling 32: reading first and collecting later would lose a run that began in between
// from both sets.
Result<Millis> Drainer::run() {
  if (!recovered_)
    if (auto done = recover(); !done) return done.error();
  if (auto done = settle(); !done) return done.error();
  auto running = read_running();
  if (!running) return running.error();
  watch_probe(*running);
  if (auto done = heartbeat(); !done) return done.error();

  std::vector<Occupied> occupied = in_flight(*running);
  account_slot_time(occupied);
  if (!picking_ || static_cast<int>(occupied.size()) >= settings_.limits.concurrency)
    return settings_.poll_interval;
  return pick(std::move(occupied));
}

// A drainer that died left nonces nobody waits for: an executor that still has one to spend must be
// refused, or its run would start outside our set. Rows stay queued (rulings 1).
Result<Done> Drainer::recover() {
  const auto revoked = parts_.store.revoke_all();
  if (!revoked) return revoked.error();
  const auto recent = parts_.store.slot_use(now_ - limits::kVirtualTimeWindow, now_);
  if (!recent) return recent.error();
  shares_.rebuild(*recent);
  recovered_ = true;
  parts_.events.record(
      {Level::info,
       "drainer_recovered",
       {},
       {{"nonces_revoked", fmt::to_string(*revoked)}, {"drainer", settings_.me.value}}});
  return Done{};
}

// The row is trusted, never the HTTP status: each answer, good or doubtful, is settled by the
// conditional revoke. Crash window answered-unsettled: recover() of the next drainer revokes; a
// revoke that was committed left the row queued and free, running or ended.
Result<Done> Drainer::settle() {
  for (auto at = outstanding_.begin(); at != outstanding_.end();) {
    if (!at->second.answer) {
      ++at;
      continue;
    }
    const DispatchAnswer& answer = *at->second.answer;
    const BackOff back_off = back_off_after(answer);
    const auto row = parts_.store.revoke(at->first, back_off);
    if (!row) return row.error();
    if (*row == RevokeAnswer::running) doubtful_.insert(at->first);
    if (*row == RevokeAnswer::free)
      never_began(answer, back_off, at->second.started);
    else
      began(at->first);
    at = outstanding_.erase(at);
  }
  return Done{};
}

namespace {

// Unreachable, full, dying. A refused nonce or a 200 over a row that never began is no sign of it.
bool is_no_answer(const DispatchAnswer& answer) {
  return !answer.http_status || *answer.http_status >= 500;
}

constexpr std::uint8_t kLongest = 255;  // the chance that makes a back-off last longest

}  // namespace

// Whether the executor as a whole is in trouble, not this row: a row that fails again, others
// having begun since it failed before, is what that executor chokes on.
bool Drainer::blames_executor(const DispatchAnswer& answer) const {
  const auto trouble = row_failures_.find(answer.execution);
  const bool is_row_again = trouble != row_failures_.end() && executor_worked_at_ &&
                            *executor_worked_at_ > trouble->second.at;
  return is_no_answer(answer) && !is_row_again;
}

// What the row shall remember should the revoke win: why, and when to try it again. An executor in
// trouble is tried with another row first: this one may be all that is wrong.
BackOff Drainer::back_off_after(const DispatchAnswer& answer) {
  const std::string error =
      !answer.error.empty() ? answer.error
                            : fmt::format("executor answered {}", answer.http_status.value_or(0));
  BackOff back_off{std::nullopt,
                   clamp_utf8(replace_invalid_utf8(error), limits::kMaxDispatchErrorBytes)};
  Millis wait = dispatch_back_off(row_failures_[answer.execution].count + 1, chance());
  if (blames_executor(answer)) wait += dispatch_back_off(executor_failures_ + 1, kLongest);
  back_off.not_before = now_ + std::min(wait, limits::kDispatchBackOffMax);
  return back_off;
}

void Drainer::began(ExecutionId execution) {
  row_failures_.erase(execution);
  executor_works();
}

void Drainer::executor_works() {
  executor_worked_at_ = mono_;
  executor_failures_ = 0;
  executor_failed_at_.reset();
  executor_down_until_.reset();
  executor_error_.clear();
}

// Counted on the monotonic clock: a wall clock set back must not keep an executor down for so long.
std::optional<UtcTime> Drainer::executor_down_until() const {
  if (!executor_down_until_) return std::nullopt;
  return now_ + std::chrono::ceil<Millis>(*executor_down_until_ - mono_);
}

// Dispatches that were under way when the executor was first found to fail tell nothing new.
void Drainer::never_began(const DispatchAnswer& answer, const BackOff& back_off, MonoTime started) {
  const bool is_executors = blames_executor(answer);
  RowTrouble& trouble = row_failures_[answer.execution];
  trouble = {trouble.count + 1, mono_};
  if (is_executors && (!executor_failed_at_ || started > *executor_failed_at_)) {
    executor_down_until_ = mono_ + dispatch_back_off(++executor_failures_, chance());
    executor_failed_at_ = mono_;
    executor_error_ = back_off.error;
  }
  parts_.events.record(
      {Level::warn,
       "dispatch_failed",
       answer.execution,
       {{"error", back_off.error}, {"never_sent", answer.never_sent ? "true" : "false"}}});
}

// While the executor is in trouble one dispatch at a time tries it, and its row says when it
// begins: that is answer enough, a run may take its whole wall. One that has not begun for as long
// as a back-off lasts at most is lost on the way, and holds up no other.
void Drainer::watch_probe(const std::vector<RunningRow>& running) {
  probing_ = false;
  for (const auto& [execution, dispatch] : outstanding_) {
    const bool began =
        std::any_of(running.begin(), running.end(),
                    [&, id = execution](const RunningRow& row) { return row.execution == id; });
    if (!began)
      probing_ = probing_ || mono_ - dispatch.started < limits::kDispatchBackOffMax;
    else if (executor_failed_at_ && dispatch.started > *executor_failed_at_)
      executor_works();
  }
}

std::uint8_t Drainer::chance() {
  std::uint8_t byte = 0;
  parts_.entropy.fill({&byte, 1});
  return byte;
}

Result<std::vector<RunningRow>> Drainer::read_running() {
  auto running = parts_.store.running();
  if (!running) return running;
  const MonoTime seen_at = parts_.clock.mono_now();  // now: the tick may have stood still since
  std::vector<RunningRow> alive;
  std::set<ExecutionId> seen;
  for (RunningRow& row : *running) {
    seen_running_.emplace(row.execution, seen_at);
    const auto ended = end_if_proved_dead(row);
    if (!ended) return ended.error();
    if (*ended) continue;
    seen.insert(row.execution);
    alive.push_back(std::move(row));
  }
  std::erase_if(seen_running_, [&](const auto& entry) { return !seen.contains(entry.first); });
  std::erase_if(doubtful_, [&](ExecutionId execution) { return !seen.contains(execution); });
  return alive;
}

// Time is never proof of death, but a dispatch of our own that ended in doubt may hold its slot no
// longer than an executor's wall can last (rulings 2), counted from when we saw its row running: a
// request may have travelled for as long as its nonce lives. Crash window proved-unwritten: the
// next one proves it again; a finish that comes between proof and write stands.
Result<bool> Drainer::end_if_proved_dead(const RunningRow& row) {
  std::string reason;
  if (row.executor && parts_.probe.probe(*row.executor) == Liveness::gone)
    reason =
        fmt::format("the executor process ({}) died during the run", executor_place(*row.executor));
  if (doubtful_.contains(row.execution) &&
      mono_ - seen_running_.at(row.execution) > settings_.doubtful_after)
    reason = "the executor gave no answer and never finished the run";
  if (reason.empty()) return false;
  const auto abandoned = parts_.store.abandon(row.execution, row.run, reason, now_);
  if (!abandoned) return abandoned.error();
  if (!*abandoned) return false;  // finished since it was read, or it can not be ended: read again
  parts_.events.record({Level::warn, "run_abandoned", row.execution, {{"reason", reason}}});
  outstanding_.erase(row.execution);  // whatever its answer says, and however late it comes
  return true;
}

std::vector<Occupied> Drainer::in_flight(const std::vector<RunningRow>& running) const {
  std::vector<Occupied> occupied;
  for (const RunningRow& row : running) occupied.push_back({row.execution, row.account, row.key});
  for (const auto& [execution, dispatch] : outstanding_) {
    const bool listed = std::any_of(running.begin(), running.end(),
                                    [&, id = execution](auto& row) { return row.execution == id; });
    if (!listed) occupied.push_back({execution, dispatch.account, dispatch.key});
  }
  return occupied;
}

void Drainer::account_slot_time(const std::vector<Occupied>& occupied) {
  if (held_since_) shares_.hold(mono_ - *held_since_, held_);
  held_since_ = mono_;
  held_.clear();
  for (const Occupied& one : occupied) ++held_[one.account];
}

namespace {

// As many of a lane's oldest rows as any account may have in flight.
int widest_cap(int usual, const Standing& standing) {
  for (const auto& [account, cap] : standing.per_account) usual = std::max(usual, cap);
  return usual;
}

}  // namespace

Result<Millis> Drainer::pick(std::vector<Occupied> occupied) {
  auto standing = parts_.store.standing();
  if (!standing) return standing.error();
  auto lanes = parts_.store.lanes(widest_cap(settings_.limits.per_account, *standing));
  if (!lanes) return lanes.error();
  PlanInput input{.limits = settings_.limits,
                  .lanes = *std::move(lanes),
                  .in_flight = std::move(occupied),
                  .everybody_paused = standing->everybody_paused,
                  .paused = std::move(standing->paused),
                  .per_account = std::move(standing->per_account),
                  .executor_down_until = executor_down_until(),
                  .now = now_};
  if (!input.lanes.empty())
    if (auto read = read_gates(input); !read) return read.error();
  // An executor that has just failed is tried with one dispatch, not with all.
  if (executor_failures_ > 0) input.most_picks = probing_ ? 0 : 1;
  for (;;) {  // each refusal takes a row, a key or an account out of the plan
    shares_.set_active(active_accounts(input));
    const Plan plan = plan_lanes(input, shares_);
    const auto all_started = start_all(plan, input);
    if (!all_started) return all_started.error();
    if (!*all_started) continue;
    const bool has_emptied_lane =
        std::ranges::any_of(input.lanes, [](const Lane& lane) { return lane.rows.empty(); });
    if (has_emptied_lane) return limits::kReplanDelay;  // what stood behind was not read
    return plan.next_change ? *plan.next_change - now_ : settings_.poll_interval;
  }
}

// False where the rows have changed under the plan. What a refusal tells goes into the next plan of
// this very tick: else a paused account would keep the slots it was picked for from the others, and
// a younger row of its lane could start first.
Result<bool> Drainer::start_all(const Plan& plan, PlanInput& input) {
  for (const Pick& one : plan.picks) {
    const auto minted = start(one);
    if (!minted) return minted.error();
    if (*minted == MintAnswer::minted) {
      input.in_flight.push_back({one.row.execution, one.account, one.key});
      continue;
    }
    if (*minted == MintAnswer::account_paused)
      input.paused.insert(one.account);
    else if (*minted == MintAnswer::key_gated && one.key)
      input.gates[*one.key] = now_ + limits::kReplanDelay;
    else
      for (Lane& lane : input.lanes)
        std::erase_if(lane.rows, [&](const LaneRow& row) { return row == one.row; });
    return false;
  }
  return true;
}

Result<Done> Drainer::read_gates(PlanInput& input) {
  input.gates = closed_gates();
  const auto records = parts_.store.gate_records(now_);
  if (!records) return records.error();
  take_gate_records(input, *records, settings_.gate);
  return Done{};
}

// A gate store that is away fails open: its last known gates hold until they end by themselves
// (rulings 12).
std::map<ApiKeyHash, UtcTime> Drainer::closed_gates() {
  const auto closed = parts_.gates.closed(now_);
  if (!closed) {
    parts_.events.record({Level::error, "gate_error", {}, {{"error", closed.error().message}}});
    std::erase_if(gates_,
                  [&](const auto& gate) { return !is_closed(gate.second, now_, settings_.gate); });
    return gates_;
  }
  gates_.clear();
  for (const Gate& gate : *closed) gates_[gate.key] = gate.until;
  return gates_;
}

// Crash window minted-unsent: a nonce nobody has, on a row that is still queued; recover() revokes
// it. Crash window sent-unanswered: the executor may begin before that revoke, and the row then
// says running and is its own executor's to finish; after it the begin is refused.
Result<MintAnswer> Drainer::start(const Pick& pick) {
  const Nonce nonce{random_hex_128(parts_.entropy)};
  const auto minted = parts_.store.mint({.execution = pick.row.execution,
                                         .job = pick.row.job,
                                         .nonce = parts_.secrets.nonce_hash(nonce),
                                         .drainer = settings_.me,
                                         .now = now_});
  if (minted && *minted == MintAnswer::key_gone)
    if (auto ended = end_without_key(pick.row.execution); !ended) return ended.error();
  if (!minted || *minted != MintAnswer::minted) return minted;
  outstanding_[pick.row.execution] = {pick.account, pick.key, mono_, std::nullopt};
  ++held_[pick.account];
  parts_.transport.start({pick.row.execution, pick.row.job, nonce});
  parts_.events.record({Level::debug, "dispatched", pick.row.execution, {}});
  return minted;
}

// Somebody deleted the job or scrubbed its key while the row was queued (rulings 34). It could only
// fail at its first call, or hold up its lane for ever.
Result<Done> Drainer::end_without_key(ExecutionId execution) {
  const auto ended =
      parts_.store.end_undispatched(execution, "never dispatched: API key gone", now_);
  if (!ended) return ended.error();
  if (*ended)
    parts_.events.record(
        {Level::error, "never_dispatched", execution, {{"reason", "API key gone"}}});
  return Done{};
}

Result<Done> Drainer::heartbeat() {
  const bool is_due = !last_heartbeat_ || mono_ - *last_heartbeat_ >= limits::kHeartbeatInterval;
  if (!is_due && told_error_ == executor_error_) return Done{};
  last_heartbeat_ = mono_;
  Heartbeat beat{settings_.me, now_};
  if (const auto until = executor_down_until()) beat.trouble = {executor_error_, *until};
  const auto done = parts_.store.heartbeat(beat);
  if (done) told_error_ = executor_error_;
  return done;
}

}  // namespace coderunner
