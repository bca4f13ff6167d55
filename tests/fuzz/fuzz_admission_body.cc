// A submission as JSON, as any client may send it.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "app/json_views.h"
#include "tests/fuzz/checked_submission.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body{reinterpret_cast<const char*>(data), size};
  auto read = coderunner::app::submission_from_json(body);
  if (auto* fields = std::get_if<coderunner::SubmissionFields>(&read))
    coderunner::check_what_is_admitted(std::move(*fields));
  return 0;
}
