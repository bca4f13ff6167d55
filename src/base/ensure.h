// A bug is an abort. `ensure` states what must hold whatever the input was; it stays on in release
// builds. Never use it for bad input or a failed call: those are values and Results.
#pragma once

#include <source_location>
#include <string_view>

namespace coderunner {

[[noreturn]] void abort_with(std::string_view what, std::source_location where);

inline void ensure(bool holds, std::string_view what,
                   std::source_location where = std::source_location::current()) {
  if (!holds) abort_with(what, where);
}

}  // namespace coderunner
