// Whole small files into memory: /proc entries, configuration, scripts, key files. Called by app/
// and this room; never for anything that may grow without bound.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace coderunner {

// The file's bytes. invalid_input, with a message that names the path and the reason, where it
// cannot be read or holds more than `max_bytes`.
Result<std::string> read_file(const std::string& path, std::size_t max_bytes);

}  // namespace coderunner
