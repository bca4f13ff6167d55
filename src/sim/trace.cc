#include "sim/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/byte_order_mark.h"
#include "domain/limits.h"

namespace coderunner::sim {
namespace {

constexpr std::string_view kHeader = "offset_ms,account,key,api_calls,call_ms,cpu_ms";
constexpr std::size_t kColumns = 6;

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::optional<std::array<std::string_view, kColumns>> split(std::string_view line) {
  std::array<std::string_view, kColumns> cells;
  for (std::size_t i = 0; i < kColumns; ++i) {
    const std::size_t comma = line.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == kColumns)) return std::nullopt;
    cells[i] = line.substr(0, comma);
    line.remove_prefix(std::min(comma, line.size() - 1) + 1);
  }
  return cells;
}

std::optional<std::int64_t> whole_number(std::string_view cell, std::int64_t most) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  if (error != std::errc{} || end != cell.data() + cell.size()) return std::nullopt;
  if (number < 0 || number > most) return std::nullopt;
  return number;
}

Error wrong(int line, const std::string& what) {
  return fail(Failure::invalid_input, fmt::format("line {}: {}", line, what));
}

Result<TraceArrival> read_arrival(std::string_view line, int number) {
  const auto cells = split(line);
  if (!cells) return wrong(number, fmt::format("not {} columns ({})", kColumns, kHeader));
  const auto& [at, account, key, api_calls, call, cpu] = *cells;
  if (account.empty()) return wrong(number, "account is empty");
  if (key.empty()) return wrong(number, "key is empty");
  const std::int64_t longest = limits::kMaxTraceSpan.count();
  const auto offset = whole_number(at, longest);
  const auto calls = whole_number(api_calls, limits::kMaxTraceCalls);
  const auto call_ms = whole_number(call, longest);
  const auto cpu_ms = whole_number(cpu, longest);
  if (!offset) return wrong(number, fmt::format("offset_ms is no number from 0 to {}", longest));
  if (!calls)
    return wrong(number,
                 fmt::format("api_calls is no number from 0 to {}", limits::kMaxTraceCalls));
  if (!call_ms) return wrong(number, fmt::format("call_ms is no number from 0 to {}", longest));
  if (!cpu_ms) return wrong(number, fmt::format("cpu_ms is no number from 0 to {}", longest));
  return TraceArrival{Millis{*offset},          std::string{account}, std::string{key},
                      static_cast<int>(*calls), Millis{*call_ms},     Millis{*cpu_ms}};
}

}  // namespace

Result<std::vector<TraceArrival>> read_trace(std::string_view text) {
  text = without_byte_order_mark(text);
  if (next_line(text) != kHeader) return wrong(1, fmt::format("the header is not {}", kHeader));
  std::vector<TraceArrival> arrivals;
  for (int number = 2; !text.empty(); ++number) {
    const std::string_view line = next_line(text);
    if (line.empty()) continue;
    auto arrival = read_arrival(line, number);
    if (!arrival) return arrival.error();
    if (arrivals.size() == limits::kMaxTraceArrivals)
      return wrong(number, fmt::format("more than {} arrivals", limits::kMaxTraceArrivals));
    arrivals.push_back(*std::move(arrival));
  }
  std::ranges::stable_sort(arrivals, {}, &TraceArrival::at);
  return arrivals;
}

}  // namespace coderunner::sim
