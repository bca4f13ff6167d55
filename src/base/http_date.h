// The dates of HTTP headers. Pure: `now` is an argument.
#pragma once

#include <string_view>

#include "base/time.h"

namespace coderunner {

// An HTTP-date in any of its three forms (RFC 9110 5.6.7); a two-digit year that would be more than
// 50 years after `now` is of the century before. invalid_input on anything else.
Result<UtcTime> from_http_date(std::string_view text, UtcTime now);

}  // namespace coderunner
