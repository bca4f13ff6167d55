#include "services/control.h"

#include <algorithm>
#include <utility>

namespace coderunner {
namespace {

GateReport report_of(const Gate& gate, const QueueFigures& figures) {
  GateReport report{gate, 0};
  for (const KeyFigures& lane : figures.lanes)
    if (lane.key == gate.key) report.queued += lane.queued;
  return report;
}

}  // namespace

Control::Control(Millis longest_gate, ControlParts parts, std::function<void()> wake)
    : longest_gate_(longest_gate), parts_(parts), wake_(std::move(wake)) {}

Act Control::act_of(const std::string& actor) const { return {actor, parts_.clock.utc_now()}; }

NamedAccount Control::named(const std::string& account) const {
  return {account, parts_.secrets.account_id(account)};
}

std::optional<NamedAccount> Control::named(const std::optional<std::string>& account) const {
  return account ? std::optional{named(*account)} : std::nullopt;
}

Result<PauseReport> Control::pause_report(bool paused, const std::optional<NamedAccount>& whom) {
  if (whom) {
    const auto state = account_state(whom->id);
    if (!state) return state.error();
    return PauseReport{state->paused, state->in_flight};
  }
  const auto figures = parts_.view.figures();
  if (!figures) return figures.error();
  PauseReport report{paused, static_cast<int>(figures->outstanding.size())};
  for (const AccountFigures& account : figures->accounts) report.in_flight += account.in_flight;
  return report;
}

Result<PauseReport> Control::pause(const std::string& actor,
                                   const std::optional<std::string>& account) {
  const auto whom = named(account);
  if (const auto done = parts_.store.pause(act_of(actor), whom); !done) return done.error();
  wake_();
  return pause_report(true, whom);
}

Result<PauseReport> Control::resume(const std::string& actor,
                                    const std::optional<std::string>& account) {
  const auto whom = named(account);
  if (const auto done = parts_.store.resume(act_of(actor), whom); !done) return done.error();
  wake_();
  return pause_report(false, whom);
}

Result<CancelAnswer> Control::cancel(const std::string& actor, ExecutionId execution) {
  const auto answer = parts_.store.cancel(act_of(actor), execution);
  if (answer && *answer == CancelAnswer::cancelled) wake_();
  return answer;
}

Result<int> Control::cancel_queued(const std::string& actor, const std::string& account) {
  const auto cancelled = parts_.store.cancel_queued(act_of(actor), named(account));
  if (cancelled) wake_();
  return cancelled;
}

Result<AccountState> Control::account(const std::string& account) {
  return account_state(parts_.secrets.account_id(account));
}

// What was handed over may begin at any moment: it is in flight, though its row is still queued.
// Read first: one that begins in between is counted twice, and never not at all.
Result<AccountState> Control::account_state(const AccountId& id) {
  const auto figures = parts_.view.figures();
  if (!figures) return figures.error();
  auto state = parts_.store.account(id);
  if (state)
    state->in_flight += static_cast<int>(std::ranges::count_if(
        figures->outstanding, [&id](const Occupied& one) { return one.account == id; }));
  return state;
}

Result<AccountState> Control::set_per_account(const std::string& actor, const std::string& account,
                                              std::optional<int> cap) {
  const auto done = parts_.store.set_per_account(act_of(actor), named(account), cap);
  if (!done) return done.error();
  wake_();
  return this->account(account);
}

Result<std::vector<GateReport>> Control::gates() {
  const auto closed = parts_.gates.closed(parts_.clock.utc_now());
  if (!closed) return closed.error();
  const auto figures = parts_.view.figures();
  if (!figures) return figures.error();
  std::vector<GateReport> reports;
  for (const Gate& gate : *closed) reports.push_back(report_of(gate, *figures));
  return reports;
}

Result<GateReport> Control::set_gate(const std::string& actor, const ApiKeyHash& key,
                                     Millis length) {
  const Act act = act_of(actor);
  const Gate asked{.key = key,
                   .until = act.at + std::min(length, longest_gate_),
                   .first_seen = act.at,
                   .last_seen = act.at,
                   .hint = {},
                   .status = Gate::kByOperator};
  if (const auto done = parts_.store.record(audit_set_gate(act, key, length)); !done)
    return done.error();
  const auto standing = parts_.gates.closed(key, act.at);
  if (!standing) return standing.error();
  const bool stays = *standing && (*standing)->until >= asked.until;
  const auto gate = stays ? Result<Gate>{**standing} : parts_.gates.close(asked, act.at);
  if (!gate) return gate.error();
  const auto figures = parts_.view.figures();
  if (!figures) return figures.error();
  return report_of(*gate, *figures);
}

Result<Done> Control::clear_gate(const std::string& actor, const ApiKeyHash& key) {
  const Act act = act_of(actor);
  if (const auto done = parts_.store.record(audit_clear_gate(act, key)); !done) return done.error();
  const auto cleared = parts_.gates.clear(key);
  if (cleared) wake_();
  return cleared;
}

}  // namespace coderunner
