#include "base/ensure.h"

#include <cstdio>
#include <cstdlib>

namespace coderunner {

void abort_with(std::string_view what, std::source_location where) {
  std::fprintf(stderr, "coderunner: bug: %.*s (%s:%u)\n", static_cast<int>(what.size()),
               what.data(), where.file_name(), static_cast<unsigned>(where.line()));
  std::abort();
}

}  // namespace coderunner
