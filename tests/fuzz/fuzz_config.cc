// A configuration file, as any editor may leave it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "app/config.h"
#include "base/ensure.h"

using namespace coderunner;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = app::parse_settings({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  if (!read) {
    ensure(!read.error().message.empty(), "a refusal that says nothing");
    return 0;
  }
  // What `serve` hands to its executor's processes is this text.
  const auto again = app::parse_settings(app::to_toml(*read), "printed.toml");
  ensure(again && *again == *read, "settings change when they are printed and read again");
  return 0;
}
