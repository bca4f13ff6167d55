// What operators may do: pause and resume, cancel, one account's cap, the gates (contract sections
// 1 and 2). Called by the routes; whoever is waited for afterwards, the drainer, is woken. Decides
// nothing about who may act. Thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "domain/rate_gate.h"
#include "seams/clock.h"
#include "seams/control_store.h"
#include "seams/gate_store.h"
#include "seams/secrets.h"
#include "seams/store.h"

namespace coderunner {

struct ControlParts {
  ControlStore& store;
  GateStore& gates;
  QueueView& view;
  const Secrets& secrets;
  const Clock& clock;
};

struct PauseReport {
  bool paused = false;  // an account: by itself or with everybody
  int in_flight = 0;    // of that account, or of all
  friend bool operator==(const PauseReport&, const PauseReport&) = default;
};

struct GateReport {
  Gate gate;
  int queued = 0;  // rows that wait for it
  friend bool operator==(const GateReport&, const GateReport&) = default;
};

// Accounts are named as normal_account() has them. `actor` is who the audit log says it was.
class Control {
 public:
  Control(Millis longest_gate, ControlParts parts, std::function<void()> wake);

  // Nobody named: everybody.
  Result<PauseReport> pause(const std::string& actor, const std::optional<std::string>& account);
  Result<PauseReport> resume(const std::string& actor, const std::optional<std::string>& account);
  Result<CancelAnswer> cancel(const std::string& actor, ExecutionId execution);
  Result<int> cancel_queued(const std::string& actor, const std::string& account);
  Result<AccountState> account(const std::string& account);
  Result<AccountState> set_per_account(const std::string& actor, const std::string& account,
                                       std::optional<int> cap);

  // Those closed now, the first to open first.
  Result<std::vector<GateReport>> gates();
  // Closed for `length` from now, at most the longest gate; one that is closed for longer stays as
  // it is. On record before it is done: a gate may live outside the store.
  Result<GateReport> set_gate(const std::string& actor, const ApiKeyHash& key, Millis length);
  Result<Done> clear_gate(const std::string& actor, const ApiKeyHash& key);

 private:
  Act act_of(const std::string& actor) const;
  std::optional<NamedAccount> named(const std::optional<std::string>& account) const;
  NamedAccount named(const std::string& account) const;
  Result<AccountState> account_state(const AccountId& id);
  Result<PauseReport> pause_report(bool paused, const std::optional<NamedAccount>& whom);

  Millis longest_gate_;
  ControlParts parts_;
  std::function<void()> wake_;
};

}  // namespace coderunner
