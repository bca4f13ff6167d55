// The refusals under test: the 429 with its wait hint in every shape clients must cope with, the
// old API's 401 for one method, and the 401 without a key (facts 1.3, 1.4, 1.6). Pure.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"
#include "fake/reply.h"

namespace coderunner::fake {

enum class RetryAfterForm { header, body, both, neither, date, zero, negative, huge, html };
// By the word of the --retry-after flag.
std::optional<RetryAfterForm> retry_after_form(std::string_view name);

struct RateLimited {
  Millis until_open{0};
  UtcTime now;
  RetryAfterForm form = RetryAfterForm::both;
};

// The seconds are rounded up, at least 1.
HttpResponse rate_limited(const RateLimited& limited);
HttpResponse method_limited();
HttpResponse key_missing();

}  // namespace coderunner::fake
