#include "services/reaper.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "domain/sent_changes.h"

namespace coderunner {

Reaper::Reaper(const ReaperLimits& limits, ReaperParts parts) : limits_(limits), parts_(parts) {}

Millis Reaper::tick() {
  now_ = {parts_.clock.utc_now(), parts_.clock.mono_now()};
  check_clocks();
  last_ = now_;
  const auto done = run();
  if (!done) {
    forget_watches();
    if (!store_is_away_)
      parts_.events.record({Level::error, "sweep_failed", {}, {{"error", done.error().message}}});
    store_is_away_ = true;
    return limits::kSweepInterval;
  }
  if (store_is_away_) parts_.events.record({Level::info, "sweep_resumed", {}, {}});
  store_is_away_ = false;
  const MonoTime next = std::min(next_sweep_, next_housekeeping_);
  return std::max(std::chrono::ceil<Millis>(next - now_.mono), Millis{0});
}

// Rulings 24: what the monotonic clock can not vouch for was not watched.
void Reaper::check_clocks() {
  if (!base_) base_ = now_;
  const bool jumped = clock_jumped(*base_, now_);
  if (jumped) {
    parts_.events.record({Level::warn, "clock_jumped", {}, {{"to", to_rfc3339(now_.utc)}}});
    base_ = now_;
  }
  if (jumped || (last_ && was_unwatched(*last_, now_))) forget_watches();
}

void Reaper::forget_watches() {
  running_.clear();
  no_tick_since_.reset();
}

Result<Done> Reaper::run() {
  if (now_.mono >= next_sweep_) {
    if (auto done = sweep(); !done) return done;
    next_sweep_ = now_.mono + limits::kSweepInterval;
  }
  if (now_.mono >= next_housekeeping_) return keep_house();
  return Done{};
}

Result<Done> Reaper::sweep() {
  // First: a store that takes no write must not count as watched.
  if (auto done = parts_.store.record_sweep(now_.utc); !done) return done;
  if (auto done = reap_running(); !done) return done;
  return reap_queued();
}

Result<Done> Reaper::reap_running() {
  const auto rows = parts_.store.running();
  if (!rows) return rows.error();
  std::map<ExecutionId, Watch> watched;
  for (const RunningRow& row : *rows) {
    const auto before = running_.find(row.execution);
    Watch watch = before != running_.end() ? before->second : Watch{now_.mono, {}};
    const auto verdict = verdict_on(row, watch);
    watched.emplace(row.execution, watch);
    if (!verdict) continue;
    if (auto done = abandon(row, *verdict); !done) return done;
  }
  running_ = std::move(watched);
  return Done{};
}

// A proof that neither the executor nor a drainer acted upon is what the reaper is for; a run that
// outlived every other limit is a defect.
std::optional<Reaper::Verdict> Reaper::verdict_on(const RunningRow& row, Watch& watch) {
  if (!row.executor || parts_.probe.probe(*row.executor) != Liveness::gone)
    watch.gone_since.reset();
  else if (!watch.gone_since)
    watch.gone_since = now_.mono;
  if (watch.gone_since && now_.mono - *watch.gone_since >= limits::kProofGrace)
    return Verdict{
        fmt::format("the executor process ({}) died during the run", executor_place(*row.executor)),
        Level::warn};
  if (is_overdue(row.started_at, watch.since, limits_.running_after, now_))
    return Verdict{fmt::format("still running after {}, and nobody ended it",
                               format_duration(limits_.running_after)),
                   Level::error};
  return std::nullopt;
}

Result<Done> Reaper::abandon(const RunningRow& row, const Verdict& verdict) {
  // Crash window proved-unwritten. A run that has finished since it was read keeps its own end.
  const auto ended = parts_.store.abandon(row.execution, row.run, verdict.reason, now_.utc);
  if (!ended) return ended.error();
  if (*ended) told(verdict.level, "killed", row.execution, "reason", verdict.reason);
  return Done{};
}

// Rulings 5: only where no drainer is left. One that comes back, after a day even, dispatches what
// it finds, so a reaper that has just started lets it tick first.
Result<Done> Reaper::reap_queued() {
  const auto tick = parts_.store.last_tick();
  if (!tick) return tick.error();
  if (!no_tick_since_ || *tick != last_tick_) no_tick_since_ = now_.mono;
  last_tick_ = *tick;
  if (!is_overdue(last_tick_.value_or(UtcTime{}), *no_tick_since_, limits_.queued_after, now_))
    return Done{};
  const auto rows =
      parts_.store.queued_before(now_.utc - limits_.queued_after, now_.utc, limits::kReapedAtOnce);
  if (!rows) return rows.error();
  for (const OldQueuedRow& row : *rows)
    if (auto done = end_never_dispatched(row); !done) return done;
  return Done{};
}

Result<Done> Reaper::end_never_dispatched(const OldQueuedRow& row) {
  const UtcTime cutoff = now_.utc - limits_.queued_after;
  const std::string reason =
      fmt::format("queued since {}, and no drainer has ticked for {}", to_rfc3339(row.queued_at),
                  format_duration(limits_.queued_after));
  const auto ended = parts_.store.end_never_dispatched(
      {row.execution, cutoff, cutoff, "never dispatched: " + reason, now_.utc});
  if (!ended) return ended.error();
  if (*ended) told(Level::error, "never_dispatched", row.execution, "reason", reason);
  return Done{};
}

// One batch of each; soon again while there is more.
Result<Done> Reaper::keep_house() {
  const auto scrubbed =
      parts_.store.scrub_keys(now_.utc - limits_.scrub_after, limits::kScrubbedAtOnce);
  if (!scrubbed) return scrubbed.error();
  // A key goes with the end of its run: one that is left was left by somebody's fault.
  if (*scrubbed > 0) told(Level::warn, "scrubbed", {}, "keys", fmt::to_string(*scrubbed));

  const auto forgotten = parts_.store.forget_idempotency_keys(
      now_.utc - limits::kIdempotencyKeyKept, limits::kScrubbedAtOnce);
  if (!forgotten) return forgotten.error();

  const auto purged = purge();
  if (!purged) return purged.error();
  const bool more = *purged || std::max(*scrubbed, *forgotten) >= limits::kScrubbedAtOnce;
  next_housekeeping_ = now_.mono + (more ? limits::kBatchGap : limits::kHousekeepingInterval);
  return Done{};
}

// Rows with their jobs and logs, operators' acts, gates; true while there is more.
Result<bool> Reaper::purge() {
  const auto newest = parts_.store.newest_queued_at();
  if (!newest) return newest.error();
  const auto cutoff = purge_cutoff(now_.utc, *newest, limits_.purge_after);
  if (!cutoff) return false;
  const auto rows = parts_.store.purge({.queued_before = *cutoff});
  if (!rows) return rows.error();
  if (rows->rows > 0) told(Level::info, "purged", {}, "rows", fmt::to_string(rows->rows));
  const auto acts = parts_.store.purge_audit(*cutoff, limits::kScrubbedAtOnce);
  if (!acts) return acts.error();
  if (*acts > 0) told(Level::info, "purged_audit", {}, "rows", fmt::to_string(*acts));
  // For a day a gate still says how its key is to be tried, whatever purge_after is.
  const auto gates = parts_.store.forget_gates(
      std::min(*cutoff, now_.utc - limits::kGateRemembered), limits::kScrubbedAtOnce);
  if (!gates) return gates.error();
  return rows->more || std::max(*acts, *gates) >= limits::kScrubbedAtOnce;
}

void Reaper::told(Level level, std::string_view kind, std::optional<ExecutionId> execution,
                  std::string_view field, std::string value) {
  parts_.events.record(
      {level, "reaped", execution, {{"kind", std::string{kind}}, {field, std::move(value)}}});
}

}  // namespace coderunner
