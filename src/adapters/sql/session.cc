#include "adapters/sql/session.h"

#include <charconv>

namespace coderunner::sql {

std::int64_t Row::number(std::size_t column) const { return maybe_number(column).value_or(0); }

std::optional<std::int64_t> Row::maybe_number(std::size_t column) const {
  const Cell& cell = cells_.at(column);
  if (!cell) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(cell->data(), cell->data() + cell->size(), value);
  return error == std::errc{} ? value : 0;
}

UtcTime Row::time(std::size_t column) const { return maybe_time(column).value_or(UtcTime{}); }

std::optional<UtcTime> Row::maybe_time(std::size_t column) const {
  const Cell& cell = cells_.at(column);
  if (!cell) return std::nullopt;
  if (const auto stored = from_sql(*cell)) return *stored;
  if (const auto foreign = from_rfc3339(*cell)) return *foreign;
  return UtcTime{};
}

}  // namespace coderunner::sql
