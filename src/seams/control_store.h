// The operators' face of the store: pause, cancel, the cap of one account (contract sections 1 to
// 4). Each act is one transaction, its entry in the audit log with it; one that changes nothing
// because it came too late leaves none. Thread-safe. Failures as in store.h.
#pragma once

#include <optional>

#include "base/ids.h"
#include "base/result.h"
#include "domain/operator_act.h"

namespace coderunner {

enum class CancelAnswer {
  cancelled,
  not_queued,  // it has begun or ended
  unknown,     // there is no such execution
};

struct AccountState {
  int queued = 0;
  int in_flight = 0;               // running rows
  bool paused = false;             // itself, or everybody
  std::optional<int> per_account;  // instead of queue.per_account
  friend bool operator==(const AccountState&, const AccountState&) = default;
};

class ControlStore {
 public:
  virtual ~ControlStore() = default;
  // Nobody named: everybody. Once it answered, no nonce is minted for them any more.
  virtual Result<Done> pause(const Act& act, const std::optional<NamedAccount>& whom) = 0;
  // Lifts that very pause: an account paused by itself stays so when everybody is resumed, and the
  // other way about.
  virtual Result<Done> resume(const Act& act, const std::optional<NamedAccount>& whom) = 0;
  // Only while it is queued; a nonce that is out for it can not be spent any more, and its API key
  // is gone.
  virtual Result<CancelAnswer> cancel(const Act& act, ExecutionId execution) = 0;
  // All that are queued; answers how many. One transaction: an account has no more of them than
  // queue.max_queued_per_account, where nobody else writes rows.
  virtual Result<int> cancel_queued(const Act& act, const NamedAccount& account) = 0;
  // nullopt: queue.per_account again.
  virtual Result<Done> set_per_account(const Act& act, const NamedAccount& account,
                                       std::optional<int> cap) = 0;
  virtual Result<AccountState> account(const AccountId& account) = 0;
  // The entry of an act whose change is stored elsewhere: a gate.
  virtual Result<Done> record(const AuditEntry& entry) = 0;
};

}  // namespace coderunner
