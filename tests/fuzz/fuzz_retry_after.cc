// Retry-After, Date and the number in the body, as any server may send them: one line each.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/ensure.h"
#include "domain/retry_hint.h"

using namespace coderunner;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text{reinterpret_cast<const char*>(data), size};
  LimitedAnswer answer;
  answer.received = utc_from_epoch_ms(1'787'573'280'000);
  if (text.size() >= sizeof(double)) {
    double number = 0;
    std::memcpy(&number, text.data(), sizeof number);
    answer.in_body = number;
    text.remove_prefix(sizeof number);
  }
  for (bool is_date = true; !text.empty(); is_date = false) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (is_date)
      answer.date = std::string{text.substr(0, end)};
    else
      answer.retry_after.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const GatePolicy policy;
  const RetryHint hint = retry_hint(answer, policy);
  ensure(hint.wait >= std::chrono::seconds{1} && hint.wait <= policy.max, "a wait out of bounds");
  ensure(!hint.clamped || hint.wait == policy.max, "clamped to something else than the maximum");
  return 0;
}
