// What the rows may and may not do.
#include <fmt/format.h>

#include <algorithm>

#include "sim/judge.h"

namespace coderunner::sim {
namespace {

using namespace std::chrono_literals;

bool is_older(const Execution& a, const Execution& b) {
  return std::pair{a.queued_at, a.id} < std::pair{b.queued_at, b.id};
}

}  // namespace

void Judge::must(bool holds, std::string_view invariant, ExecutionId execution,
                 std::string_view what) {
  if (!holds) world_.violate(invariant, fmt::format("e{}: {}", execution.value, what));
}

void Judge::wrote(const Cause& cause) {
  std::size_t seen = 0;
  truth_.each_execution([&](const Execution& row) {
    ++seen;
    see(row, cause);
  });
  if (seen == rows_.size()) return;
  std::set<ExecutionId> here;
  truth_.each_execution([&](const Execution& row) { here.insert(row.id); });
  for (const auto& [id, row] : rows_)
    if (!here.contains(id))
      must(is_finished(row.last.status), "never lost", id, "an unfinished row is gone");
  std::erase_if(rows_, [&](const auto& entry) { return !here.contains(entry.first); });
}

void Judge::see(const Execution& row, const Cause& cause) {
  const auto known = rows_.find(row.id);
  if (known == rows_.end()) return appeared(row, cause);
  if (known->second.last == row) return;
  changed(known->second, row, cause);
  known->second.last = row;
}

void Judge::appeared(const Execution& row, const Cause& cause) {
  Row fresh{.last = row};
  fresh.seen_at = ++rows_seen_;
  fresh.seen_mono = world_.now();
  fresh.was_quiet = std::ranges::none_of(rows_, [&](const auto& entry) {
    return entry.second.last.account_id == row.account_id && !is_finished(entry.second.last.status);
  });
  const bool is_new = row.status == Status::queued || row.status == Status::error;
  fresh.equals = unserved_accounts();
  must(is_new || cause.call == kPlanted, "one arrow", row.id,
       "a new row is neither queued nor refused");
  if (row.identifier) {
    const auto sent = submissions_.find(*row.identifier);
    if (sent == submissions_.end())
      must(false, "admission", row.id, "a row nobody has sent");
    else
      sent->second.rows.push_back(row.id);
  }
  if (!is_finished(row.status)) ++unfinished_;
  rows_.emplace(row.id, std::move(fresh));
}

void Judge::changed(Row& known, const Execution& row, const Cause& cause) {
  const Status from = known.last.status;
  must(!is_finished(from), "finish at most once", row.id, "an ended row has changed");
  if (from == row.status) return;
  must(may_become(from, row.status), "never re-run", row.id,
       fmt::format("{} became {}", to_text(from), to_text(row.status)));
  if (row.status == Status::running) began(known, row, cause);
  if (is_finished(row.status)) ended(known, row, cause);
}

void Judge::began(Row& known, const Execution& row, const Cause& cause) {
  must(++known.begun == 1, "begun at most once", row.id, "began again");
  must(cause.process->role == Role::worker && cause.call == "begin", "one arrow", row.id,
       "began by other means than begin");
  must(row.run && row.started_at, "begun at most once", row.id, "runs without a run id");
  must(known.may_begin, "a revoked dispatch never begins", row.id, "began without a live nonce");
  known.may_begin = false;
  if (row.run)
    runs_[*row.run] = {row.id,        world_.now() + world_.scenario.settings.wall,
                       cause.process, std::nullopt,
                       false,         {}};
  check_caps(row);
  check_wait(known);
}

void Judge::check_caps(const Execution& row) {
  int all = 0;
  int account = 0;
  truth_.each_execution([&](const Execution& other) {
    if (other.status != Status::running) return;
    ++all;
    if (other.account_id == row.account_id) ++account;
  });
  const Settings& is = world_.scenario.settings;
  must(all <= is.concurrency, "caps", row.id, fmt::format("{} run in all", all));
  must(account <= is.per_account, "caps", row.id, fmt::format("{} run for the account", account));
}

std::size_t Judge::unserved_accounts() const {
  std::set<AccountId> waiting;
  std::set<AccountId> served;
  for (const auto& [id, row] : rows_)
    (row.last.status == Status::queued ? waiting : served).insert(row.last.account_id);
  return static_cast<std::size_t>(std::ranges::count_if(
      waiting, [&](const AccountId& account) { return !served.contains(account); }));
}

// A quiet account waits at most one service time behind any number of saturated ones, and its turn
// among those who are as quiet. Only judged where nothing fails, of the one that never floods.
void Judge::check_wait(const Row& known) {
  const bool is_judged = world_.scenario.profile == Profile::calm && known.was_quiet &&
                         known.last.account_id == AccountId{"account:a0"};
  if (!is_judged) return;
  Millis longest{0};
  for (const Arrival& arrival : world_.scenario.arrivals)
    longest = std::max(longest, arrival.script.last_think);
  const Settings& is = world_.scenario.settings;
  const auto turns = 1 + (static_cast<int>(known.equals) + is.concurrency - 1) / is.concurrency;
  const Millis most = longest * turns + is.poll_interval + 1s;
  const Millis waited = std::chrono::floor<Millis>(world_.now() - known.seen_mono);
  must(waited <= most, "a quiet account waits", known.last.id,
       fmt::format("waited {}ms of at most {}ms", waited.count(), most.count()));
}

void Judge::ended(Row& known, const Execution& row, const Cause& cause) {
  --unfinished_;
  must(++known.ended == 1, "finish at most once", row.id, "ended again");
  if (known.last.status == Status::queued) return ended_queued(known, row, cause);
  if (cause.process->role == Role::reaper) world_.count("reaped while running");
  if (!row.run) {  // an old writer's: only its age tells
    must(world_.now() - known.seen_mono >= world_.scenario.settings.running_after, "true outcome",
         row.id, "ended before its time");
    return;
  }
  if (row.error_code == number(ErrorCode::ended_from_outside))
    return check_ended_from_outside(row, cause);
  const auto run = runs_.find(row.run.value_or(RunId{}));
  const bool is_true =
      run != runs_.end() && run->second.outcome && run->second.outcome->status() == row.status &&
      (!run->second.outcome->code || number(*run->second.outcome->code) == row.error_code);
  must(is_true, "true outcome", row.id, "the row tells another end than the script had");
}

// A queued row has an end only where its key is gone, or where no drainer is left.
void Judge::ended_queued(Row& known, const Execution& row, const Cause& cause) {
  known.is_given_up = cause.call == "end_never_dispatched";
  if (!known.is_given_up)
    return must(cause.call == "end_undispatched" && !known.has_key, "never lost", row.id,
                "a queued row was ended: " + row.error_message.value_or(""));
  world_.count("reaped while queued");
  must(world_.now() - last_heartbeat_ >= world_.scenario.settings.queued_after, "never lost",
       row.id, "given up although a drainer has ticked");
  must(!paused_.contains(AccountId{}) && !paused_.contains(row.account_id), "never lost", row.id,
       "given up while paused");
}

// Time is no proof of death, but a wall is: 303 takes a dead worker or a run past its wall.
void Judge::check_ended_from_outside(const Execution& row, const Cause& cause) {
  const auto run = runs_.find(row.run.value_or(RunId{}));
  if (run == runs_.end()) return must(false, "true outcome", row.id, "303 of an unknown run");
  const Run& was = run->second;
  const bool is_dead = !was.process->is_alive;
  check_sent(row, was);
  const bool is_past_wall = world_.now() >= was.wall;
  const bool by_itself =
      cause.process == was.process &&
      (was.nothing_ran || (was.outcome && was.outcome->code == ErrorCode::ended_from_outside));
  must(is_dead || is_past_wall || by_itself, "true outcome", row.id,
       "303, but its run is alive and within its wall");
  if (row.error_message && row.error_message->find("process died") != std::string::npos)
    must(is_dead, "true outcome", row.id, "called dead, but its process lives");
}

// Whoever ended it: the row names every change its run had sent.
void Judge::check_sent(const Execution& row, const Run& run) {
  for (const int call : run.sent)
    must(row.error_message.value_or("").find(fmt::format("POST /{}:", call)) != std::string::npos,
         "true outcome", row.id, fmt::format("its message does not name call {}", call));
}

// A slot of a run proved dead is free within a few ticks of a drainer that reaches the store.
void Judge::running_read(const Process& reader) {
  constexpr int kEnoughReads = 8;  // a fault may spoil some of them
  if (reader.role != Role::drainer || !world_.scenario.settings.can_probe) return;
  for (const auto& [id, row] : rows_) {
    if (row.last.status != Status::running || !row.last.run) continue;
    Run& run = runs_[*row.last.run];
    if (run.process && !run.process->is_alive)
      must(++run.reads_after_death <= kEnoughReads, "a dead run frees its slot", id,
           "its process is dead, and the drainer leaves it running");
  }
}

// ---- mints

void Judge::minted(const Process& by, const Mint& mint) {
  const auto known = rows_.find(mint.execution);
  if (known == rows_.end()) return must(false, "one arrow", mint.execution, "minted unseen");
  const Execution& row = known->second.last;
  must(row.status == Status::queued, "never re-run", row.id, "minted, but not queued");
  must(!paused_.contains(AccountId{}) && !paused_.contains(row.account_id),
       "no dispatch of a paused account", row.id, "minted while paused");
  check_gate(row, by, mint);
  check_order(row);
  ++known->second.mints;
  known->second.may_begin = true;
}

void Judge::revoked_all() {
  for (auto& [id, row] : rows_) row.may_begin = false;
}

// In a cache the mint can not see it: there, what the drainer has read must hold (rulings 30).
void Judge::check_gate(const Execution& row, const Process& by, const Mint& mint) {
  if (!row.key) return;
  const auto& gates = read_gates_[by.name];
  const auto read = gates.find(*row.key);
  must(read == gates.end() || read->second <= mint.now, "no dispatch of a gated key", row.id,
       "minted against a gate the drainer had read");
  if (!gates_in_store_) return;
  const auto gate = gates_.closed(*row.key, mint.now);
  must(gate && !*gate, "no dispatch of a gated key", row.id, "minted while its key is gated");
}

// Older rows of the lane, there when the lanes were read, that no dispatch has ever been tried for.
void Judge::check_order(const Execution& row) {
  for (const auto& [id, other] : rows_) {
    const Execution& queued = other.last;
    if (queued.status != Status::queued || other.mints > 0 || other.seen_at > lanes_read_at_)
      continue;
    if (queued.account_id != row.account_id || queued.key != row.key) continue;
    must(!is_older(queued, row), "first in, first out", row.id,
         fmt::format("minted before e{}", id.value));
  }
}

}  // namespace coderunner::sim
