#include <algorithm>
#include <map>

#include "adapters/sql/faces.h"
#include "adapters/sql/rows.h"
#include "adapters/sql/statements.h"
#include "domain/sent_changes.h"

namespace coderunner::sql {
namespace {

using MaybeText = std::optional<std::string>;

struct LaneKey {  // NULL sorts before every text
  MaybeText account;
  MaybeText key;
  friend auto operator<=>(const LaneKey&, const LaneKey&) = default;
};
using MaybeLane = std::optional<LaneKey>;

// The lane a dive answers, beyond `last`; nothing where it found no row. A BLOB that another
// program wrote sorts behind every text and would be found for ever: that is nothing as well.
Result<MaybeLane> dive(Session& session, std::string_view text, const Values& values,
                       const LaneKey& last) {
  const auto rows = session.query(text, values);
  if (!rows) return rows.error();
  if (rows->empty()) return MaybeLane{};
  LaneKey found{rows->front().maybe_text(0), rows->front().maybe_text(1)};
  return found > last ? MaybeLane{std::move(found)} : MaybeLane{};
}

// Of the rows without an account, then of those with one.
Result<MaybeLane> next_lane(Session& session, const LaneKey& last) {
  if (!last.account) {
    const auto of_nobody = last.key ? dive(session, text::kNextKeyOfNobody, {*last.key}, last)
                                    : dive(session, text::kFirstKeyOfNobody, {}, last);
    if (!of_nobody || *of_nobody) return of_nobody;
    return dive(session, text::kFirstLane, {}, last);
  }
  const auto next = last.key ? dive(session, text::kNextLane, {*last.account, *last.key}, last)
                             : dive(session, text::kLaneAfterKeyless, {*last.account}, last);
  if (!next || *next) return next;
  // The end, or a BLOB among this account's keys, which hides nobody else.
  return dive(session, text::kFirstLaneOfNextAccount, {*last.account}, last);
}

Result<Done> read_lane(Session& session, const LaneKey& of, int rows_per_lane,
                       std::vector<Lane>& lanes) {
  const auto heads = session.query(text::kLaneHeads, {of.account, of.key, rows_per_lane});
  if (!heads) return heads.error();
  if (heads->empty()) return Done{};
  Lane& lane = lanes.emplace_back();
  lane.account = {of.account.value_or("")};
  if (of.key) lane.key = ApiKeyHash{*of.key};
  for (const Row& row : *heads)
    lane.rows.push_back({{row.number(0)}, {row.number(1)}, row.time(2), row.maybe_time(3)});
  return Done{};
}

Result<Keep> mint_nonce(Session& session, const Mint& mint, const GatePolicy& gate,
                        MintAnswer& answer) {
  const auto seen = session.query(
      text::kMintable, {mint.now, latest_gate(mint.now, gate), mint.execution, mint.job});
  if (!seen) return seen.error();
  answer = MintAnswer::not_queued;
  if (seen->empty() || seen->front().text(0) != to_text(Status::queued)) return Keep::no;
  answer = seen->front().number(2) != 0   ? MintAnswer::account_paused
           : seen->front().number(1) != 0 ? MintAnswer::key_gated
           : seen->front().number(3) == 0 ? MintAnswer::key_gone
                                          : MintAnswer::minted;
  if (answer != MintAnswer::minted) return Keep::no;
  const auto written = session.execute(text::kMint, {mint.nonce, mint.now, mint.drainer, mint.job});
  if (!written) return written.error();
  if (*written == 1) return Keep::yes;
  answer = MintAnswer::key_gone;
  return Keep::no;
}

Result<Keep> revoke_nonce(Session& session, ExecutionId execution, const BackOff& back_off,
                          RevokeAnswer& answer) {
  const auto found = session.query(text::kStatusAndJob, {execution});
  if (!found) return found.error();
  answer = RevokeAnswer::ended;
  if (found->empty()) return Keep::no;
  const std::string status = found->front().text(0);
  if (status == to_text(Status::running)) answer = RevokeAnswer::running;
  if (status != to_text(Status::queued)) return Keep::no;
  answer = RevokeAnswer::free;
  const auto freed = session.execute(
      text::kRevoke, {back_off.not_before, clamped(back_off.error, limits::kMaxDispatchErrorBytes),
                      found->front().number(1)});
  if (!freed) return freed.error();
  return Keep::yes;
}

}  // namespace

Result<std::vector<RunningRow>> read_running_rows(Session& session) {
  const auto rows = session.query(text::kRunning);
  if (!rows) return rows.error();
  std::vector<RunningRow> running;
  std::ranges::transform(*rows, std::back_inserter(running), read_running);
  return running;
}

Result<Standing> read_standing(Session& session) {
  Standing standing;
  const auto paused = session.query(text::kPaused);
  if (!paused) return paused.error();
  for (const Row& row : *paused) {
    AccountId account{row.text(0)};
    if (account.value.empty())
      standing.everybody_paused = true;
    else
      standing.paused.insert(std::move(account));
  }
  const auto overrides = session.query(text::kOverrides);
  if (!overrides) return overrides.error();
  for (const Row& row : *overrides)
    standing.per_account[{row.text(0)}] = static_cast<int>(row.number(1));
  return standing;
}

Result<bool> abandon_run(CommitQueue& writer, const Abandoned& of) {
  RunEnd end{of.execution, of.run, {ErrorCode::ended_from_outside, {}}, of.now};
  return writer.run<bool>(
      [&](Session& session, bool& was_that_run) -> Result<Keep> {
        const auto sent = read_sent_changes(session, of.execution);
        if (!sent) return sent.error();
        end.outcome.message = reaped(of.reason, *sent);
        const auto ended = end_run(session, end);
        if (!ended) return ended.error();
        was_that_run = *ended;
        return was_that_run ? Keep::yes : Keep::no;
      },
      [&](Session& session, bool& was_that_run) {
        was_that_run = true;
        return run_ended(session, end);
      });
}

// A skip scan: the index is entered twice a lane, however long the backlog behind its heads is.
Result<std::vector<Lane>> read_lanes(Session& session, int rows_per_lane) {
  std::vector<Lane> lanes;
  MaybeLane at{LaneKey{}};
  while (at) {
    if (const auto read = read_lane(session, *at, rows_per_lane, lanes); !read) return read.error();
    auto next = next_lane(session, *at);
    if (!next) return next.error();
    at = *std::move(next);
  }
  return lanes;
}

Result<std::vector<Lane>> DispatchFace::lanes(int rows_per_lane) {
  return readers_.read<std::vector<Lane>>(
      [&](Session& session) { return read_lanes(session, std::max(rows_per_lane, 0)); });
}

Result<std::vector<RunningRow>> DispatchFace::running() {
  return readers_.read<std::vector<RunningRow>>(read_running_rows);
}

Result<std::vector<SlotUse>> DispatchFace::slot_use(UtcTime since, UtcTime now) {
  return readers_.read<std::vector<SlotUse>>([&](Session& session) -> Result<std::vector<SlotUse>> {
    std::map<AccountId, Millis> held;
    const auto add = [&held](const AccountId& account, UtcTime from, UtcTime to) {
      held[account] += std::max(to - from, Millis{0});
    };
    const auto running = read_running_rows(session);
    if (!running) return running.error();
    for (const RunningRow& row : *running) add(row.account, row.started_at, now);
    const auto ended = session.query(text::kEndedSince, {since - limits::kLongestRun, since});
    if (!ended) return ended.error();
    for (const Row& row : *ended) add({row.text(0)}, row.time(1), row.time(2));
    std::vector<SlotUse> use;
    for (const auto& [account, time] : held) use.push_back({account, time});
    return use;
  });
}

Result<std::vector<GateRecord>> DispatchFace::gate_records(UtcTime now) {
  return readers_.read<std::vector<GateRecord>>(
      [now](Session& session) { return read_gate_records(session, now); });
}

Result<Standing> DispatchFace::standing() { return readers_.read<Standing>(read_standing); }

Result<MintAnswer> DispatchFace::mint(const Mint& mint) {
  return writer_.run<MintAnswer>(
      [&](Session& session, MintAnswer& answer) {
        return mint_nonce(session, mint, gate_, answer);
      },
      [&](Session& session, MintAnswer& answer) -> Result<bool> {
        const auto mark = session.query(text::kMinted, {mint.job, mint.nonce});
        if (!mark) return mark.error();
        answer = MintAnswer::minted;
        return !mark->empty();
      });
}

Result<RevokeAnswer> DispatchFace::revoke(ExecutionId execution, const BackOff& back_off) {
  return writer_.run<RevokeAnswer>([&](Session& session, RevokeAnswer& answer) {
    return revoke_nonce(session, execution, back_off, answer);
  });
}

Result<int> DispatchFace::revoke_all() {
  return writer_.run<int>(
      [](Session& session, int& revoked) -> Result<Keep> {
        const auto changed = session.execute(text::kRevokeAll);
        if (!changed) return changed.error();
        revoked = static_cast<int>(*changed);
        return Keep::yes;
      },
      [](Session& session, int&) -> Result<bool> {
        const auto left = session.query(text::kOutstandingNonce);
        if (!left) return left.error();
        return left->empty();
      });
}

Result<bool> DispatchFace::abandon(ExecutionId execution, const std::optional<RunId>& run,
                                   const std::string& reason, UtcTime now) {
  return abandon_run(writer_, {execution, run, reason, now});
}

Result<bool> DispatchFace::end_undispatched(ExecutionId execution, const std::string& message,
                                            UtcTime now) {
  return writer_.run<bool>([&](Session& session, bool& was_queued) -> Result<Keep> {
    const auto ended = session.execute(
        text::kEndQueued, {number(ErrorCode::ended_from_outside),
                           clamped(message, limits::kMaxErrorMessageBytes), now, execution});
    if (!ended) return ended.error();
    was_queued = *ended == 1;
    if (!was_queued) return Keep::no;
    const auto scrubbed = session.execute(text::kScrubJob, {execution});
    if (!scrubbed) return scrubbed.error();
    return Keep::yes;
  });
}

Result<Done> DispatchFace::heartbeat(const Heartbeat& beat) {
  const ExecutorTrouble none;
  const ExecutorTrouble& trouble = beat.trouble ? *beat.trouble : none;
  const Values values{beat.now, clamped(trouble.error, limits::kMaxDispatchErrorBytes),
                      beat.trouble ? std::optional{trouble.until} : std::nullopt, beat.drainer};
  return writer_.run<Done>([&](Session& session, Done&) -> Result<Keep> {
    const auto ticked = session.execute(text::kTick, values);
    if (!ticked) return ticked.error();
    if (*ticked > 0) return Keep::yes;
    if (const auto first = session.execute(text::kFirstTick, values); !first) return first.error();
    const auto forgotten =
        session.execute(text::kForgetDrainers, {beat.now - limits::kForgetDrainerAfter});
    if (!forgotten) return forgotten.error();
    return Keep::yes;
  });
}

}  // namespace coderunner::sql
