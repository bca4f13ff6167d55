// An arrival trace, as any file may hold it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ensure.h"
#include "domain/limits.h"
#include "sim/trace.h"

using namespace coderunner;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = sim::read_trace({reinterpret_cast<const char*>(data), size});
  if (!read) {
    ensure(!read.error().message.empty(), "a refusal that says nothing");
    return 0;
  }
  const auto earlier = [](const sim::TraceArrival& a, const sim::TraceArrival& b) {
    return a.at < b.at;
  };
  ensure(std::is_sorted(read->begin(), read->end(), earlier), "arrivals out of order");
  for (const sim::TraceArrival& arrival : *read) {
    ensure(arrival.at >= Millis{0} && arrival.at <= limits::kMaxTraceSpan, "a time out of bounds");
    ensure(arrival.api_calls >= 0 && arrival.api_calls <= limits::kMaxTraceCalls, "too many calls");
    ensure(arrival.call >= Millis{0} && arrival.cpu >= Millis{0}, "a negative duration");
  }
  return 0;
}
