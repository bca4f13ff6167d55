// The customer-visible error-code family (contract section 4, brief 3, rulings 31). A new value is
// not free: it is part of what customers read.
#pragma once

#include <optional>

namespace coderunner {

enum class ErrorCode : int {
  dispatch_failed = 106,  // old rows only: a dispatch failure no longer ends an execution
  rejected_for_depth = 107,
  cancelled = 108,
  nonce_missing = 112,
  nonce_invalid = 113,
  does_not_parse = 201,
  script_error = 301,        // API errors, exhausted ladders, loop budget
  fatal = 302,               // memory, forbidden system call, CPU limit, interpreter crash
  ended_from_outside = 303,  // wall, stop budget, dead worker or executor, reaper
};

constexpr int number(ErrorCode code) { return static_cast<int>(code); }

}  // namespace coderunner
