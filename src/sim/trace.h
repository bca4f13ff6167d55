// An arrival trace (contract section 8): which execution of which account and key arrived when, how
// many API calls it makes and what they cost. Read by the replay; never writes anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace coderunner::sim {

struct TraceArrival {
  Millis at{0};  // since the trace's zero
  std::string account;
  std::string key;
  int api_calls = 0;
  Millis call{0};  // one call, when served
  Millis cpu{0};   // in all, spread evenly over the calls

  // The `number`-th call, counted from 0, with its share of the CPU time.
  Millis call_takes(int number) const {
    return call + cpu * (number + 1) / api_calls - cpu * number / api_calls;
  }
  friend bool operator==(const TraceArrival&, const TraceArrival&) = default;
};

// CSV with the header `offset_ms,account,key,api_calls,call_ms,cpu_ms`; CRLF, a missing last
// newline, blank lines and a byte order mark are fine. The arrivals come back in order of time,
// equal times in order of lines. invalid_input names the line and what is wrong with it.
Result<std::vector<TraceArrival>> read_trace(std::string_view text);

}  // namespace coderunner::sim
