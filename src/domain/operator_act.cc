#include "domain/operator_act.h"

namespace coderunner {
namespace {

constexpr const char* kEverybody = "*";  // no account can be called so

std::string subject_of(const std::optional<NamedAccount>& whom) {
  return whom ? whom->name : kEverybody;
}

}  // namespace

std::string_view to_text(Deed deed) {
  switch (deed) {
    case Deed::pause: return "pause";
    case Deed::resume: return "resume";
    case Deed::cancel: return "cancel";
    case Deed::cancel_queued: return "cancel_queued";
    case Deed::set_per_account: return "set_per_account";
    case Deed::set_gate: return "set_gate";
    case Deed::clear_gate: return "clear_gate";
  }
  return {};
}

AuditEntry audit_pause(const Act& act, const std::optional<NamedAccount>& whom) {
  return {act, Deed::pause, subject_of(whom), ""};
}

AuditEntry audit_resume(const Act& act, const std::optional<NamedAccount>& whom) {
  return {act, Deed::resume, subject_of(whom), ""};
}

AuditEntry audit_cancel(const Act& act, ExecutionId execution) {
  return {act, Deed::cancel, std::to_string(execution.value), ""};
}

AuditEntry audit_cancel_queued(const Act& act, const NamedAccount& account, int cancelled) {
  return {act, Deed::cancel_queued, account.name, "cancelled=" + std::to_string(cancelled)};
}

AuditEntry audit_per_account(const Act& act, const NamedAccount& account, std::optional<int> cap) {
  return {act, Deed::set_per_account, account.name,
          "per_account=" + (cap ? std::to_string(*cap) : "default")};
}

AuditEntry audit_set_gate(const Act& act, const ApiKeyHash& key, Millis length) {
  return {act, Deed::set_gate, key.value, "for_ms=" + std::to_string(length.count())};
}

AuditEntry audit_clear_gate(const Act& act, const ApiKeyHash& key) {
  return {act, Deed::clear_gate, key.value, ""};
}

}  // namespace coderunner
