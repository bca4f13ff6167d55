// What a script process may write to its broker, and what an API may answer: any bytes at all.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ensure.h"
#include "executor/api_client.h"
#include "executor/protocol.h"

using namespace coderunner;
using namespace coderunner::executor;

namespace {

// What is understood is understood the same way again.
template <class Value, class Parse>
void check_round_trip(std::string_view text, Parse parse) {
  const Result<Value> read = parse(text);
  if (!read) return;
  const Result<Value> again = parse(to_json(*read));
  ensure(again && *again == *read, "a message changes on its way");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  check_round_trip<FromScript>(text, parse_from_script);
  check_round_trip<CallAnswer>(text, parse_call_answer);
  check_round_trip<ScriptStart>(text, parse_script_start);
  if (!refuse_path(text)) {
    const std::string_view path = text.substr(0, text.find('?'));
    ensure(path.starts_with('/') && !path.starts_with("//"), "a path that names a host");
    ensure(path.find("/../") == std::string_view::npos && !path.ends_with("/.."),
           "a path above the base");
    ensure(text.find_first_of("\r\n \\#") == std::string_view::npos, "a path that ends a header");
  }
  read_error_document(text);
  return 0;
}
