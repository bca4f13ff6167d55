// Columns to values and back: the shapes in which the faces read and write rows. Pure; used by the
// faces only.
#pragma once

#include <optional>
#include <string>

#include "adapters/sql/session.h"
#include "domain/execution.h"
#include "domain/rate_gate.h"
#include "seams/store.h"

namespace coderunner::sql {

// In the column order of text::kExecution.
Execution read_execution(const Row& row);
// In the column order of text::kBegun.
Begun read_begun(const Row& row);
// In the column order of text::kRunning.
RunningRow read_running(const Row& row);
// In the column order of text::kLogs.
LogLine read_log_line(const Row& row);
// In the column order of text::kGate.
Gate read_gate(const Row& row);
GateRecord read_gate_record(const Row& row);

template <class Id>
std::optional<Id> maybe_id(const Row& row, std::size_t column) {
  auto text = row.maybe_text(column);
  return text ? std::optional<Id>{Id{std::move(*text)}} : std::nullopt;
}

// The api_call column: a JSON object with the names of contract section 2. What does not parse (old
// writers) is no call.
std::string write_call(const ApiCall& call);
std::optional<ApiCall> read_call(const std::string& text);

// Valid UTF-8 of at most `max_bytes`; NULL where there is nothing to say.
Value clamped(const std::string& text, std::size_t max_bytes);

}  // namespace coderunner::sql
