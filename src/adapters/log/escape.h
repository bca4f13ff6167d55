// Text of strangers made safe for one line of a log or a terminal. Called by log_line.cc and by the
// commands' views. Pure.
#pragma once

#include <string>
#include <string_view>

namespace coderunner {

// Control characters (C0, DEL, C1), line and paragraph separators and the marks that turn the
// reading direction become JSON's escapes (\n, \u001b); malformed UTF-8 becomes U+FFFD. Everything
// else comes back unchanged. `quoted`: quotes and backslashes are escaped as well.
std::string escape_controls(std::string_view text, bool quoted = false);

}  // namespace coderunner
