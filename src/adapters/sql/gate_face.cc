#include <algorithm>

#include "adapters/sql/faces.h"
#include "adapters/sql/rows.h"
#include "adapters/sql/statements.h"

namespace coderunner::sql {
namespace {

Result<Keep> extend_gate(Session& session, const Gate& seen, UtcTime now, const GatePolicy& policy,
                         Gate& standing) {
  const auto rows = session.query(text::kGate, {seen.key});
  if (!rows) return rows.error();
  standing = extend(rows->empty() ? std::nullopt : std::optional{read_gate_record(rows->front())},
                    seen, now, policy);
  const auto hint =
      standing.hint ? std::optional{std::int64_t{standing.hint->count()}} : std::nullopt;
  const auto written = session.execute(
      rows->empty() ? text::kInsertGate : text::kExtendGate,
      {standing.until, standing.first_seen, standing.last_seen, hint, standing.status,
       standing.limited_at, std::int64_t{standing.longest.count()}, standing.key});
  if (!written) return written.error();
  return Keep::yes;
}

Result<std::optional<Gate>> first_gate(const Result<Rows>& rows) {
  if (!rows) return rows.error();
  return rows->empty() ? std::nullopt : std::optional{read_gate(rows->front())};
}

}  // namespace

Result<std::vector<GateRecord>> read_gate_records(Session& session, UtcTime now) {
  const auto rows = session.query(text::kGateRecords, {now - limits::kGateRemembered});
  if (!rows) return rows.error();
  std::vector<GateRecord> records;
  std::ranges::transform(*rows, std::back_inserter(records), read_gate_record);
  return records;
}

Result<Gate> GateFace::close(const Gate& seen, UtcTime now) {
  return writer_.run<Gate>([&](Session& session, Gate& standing) {
    return extend_gate(session, seen, now, policy_, standing);
  });
}

Result<std::vector<Gate>> GateFace::closed(UtcTime now) {
  return readers_.read<std::vector<Gate>>([&](Session& session) -> Result<std::vector<Gate>> {
    const auto rows = session.query(text::kClosedGates, {now, latest_gate(now, policy_)});
    if (!rows) return rows.error();
    std::vector<Gate> gates;
    std::ranges::transform(*rows, std::back_inserter(gates), read_gate);
    return gates;
  });
}

Result<std::optional<Gate>> GateFace::closed(const ApiKeyHash& key, UtcTime now) {
  return readers_.read<std::optional<Gate>>([&](Session& session) {
    return first_gate(session.query(text::kClosedGate, {key, now, latest_gate(now, policy_)}));
  });
}

Result<std::optional<Gate>> GateFace::last(const ApiKeyHash& key) {
  return readers_.read<std::optional<Gate>>(
      [&](Session& session) { return first_gate(session.query(text::kGate, {key})); });
}

Result<Done> GateFace::clear(const ApiKeyHash& key) {
  return writer_.run<Done>([&](Session& session, Done&) -> Result<Keep> {
    const auto cleared = session.execute(text::kClearGate, {key});
    if (!cleared) return cleared.error();
    return Keep::yes;
  });
}

}  // namespace coderunner::sql
