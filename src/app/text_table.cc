#include "app/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "adapters/log/escape.h"
#include "base/ensure.h"
#include "base/text.h"

namespace coderunner::app {

TextTable::TextTable(std::vector<std::string> heads) { rows_.push_back(std::move(heads)); }

void TextTable::add(std::vector<std::string> cells) {
  ensure(cells.size() == rows_.front().size(), "a table's row has as many cells as heads");
  for (std::string& cell : cells) cell = cell.empty() ? "-" : escape_controls(cell);
  rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], count_characters(row[i]));
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += row[i] + std::string(widths[i] - count_characters(row[i]) + 2, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

std::string human_duration(Millis duration) {
  const auto ms = std::max<Millis::rep>(duration.count(), 0);
  const auto seconds = ms / 1000, minutes = seconds / 60, hours = minutes / 60;
  if (ms < 1000) return fmt::format("{}ms", ms);
  if (seconds < 60) return fmt::format("{}.{}s", seconds, ms % 1000 / 100);
  if (minutes < 60) return fmt::format("{}m{:02}s", minutes, seconds % 60);
  if (hours < 48) return fmt::format("{}h{:02}m", hours, minutes % 60);
  return fmt::format("{}d{:02}h", hours / 24, hours % 24);
}

}  // namespace coderunner::app
