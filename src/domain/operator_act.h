// What operators do to the queue, as it is told in the audit log (contract sections 1 and 2). Pure;
// the stores write the entries.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"

namespace coderunner {

struct Act {  // whose, and when
  std::string actor;
  UtcTime at;
  friend bool operator==(const Act&, const Act&) = default;
};

enum class Deed {
  pause,
  resume,
  cancel,
  cancel_queued,
  set_per_account,
  set_gate,
  clear_gate,
};
std::string_view to_text(Deed deed);

struct NamedAccount {
  std::string name;
  AccountId id;
  friend bool operator==(const NamedAccount&, const NamedAccount&) = default;
};

struct AuditEntry {
  Act act;
  Deed deed = Deed::pause;
  std::string subject;  // an account's name, "*" for everybody, an execution, a key's hash
  std::string details;  // "cancelled=3"; empty where the deed says it all
  friend bool operator==(const AuditEntry&, const AuditEntry&) = default;
};

AuditEntry audit_pause(const Act& act, const std::optional<NamedAccount>& whom);
AuditEntry audit_resume(const Act& act, const std::optional<NamedAccount>& whom);
AuditEntry audit_cancel(const Act& act, ExecutionId execution);
AuditEntry audit_cancel_queued(const Act& act, const NamedAccount& account, int cancelled);
AuditEntry audit_per_account(const Act& act, const NamedAccount& account, std::optional<int> cap);
AuditEntry audit_set_gate(const Act& act, const ApiKeyHash& key, Millis length);
AuditEntry audit_clear_gate(const Act& act, const ApiKeyHash& key);

}  // namespace coderunner
