// The verbatim text of one member of a JSON object, so that a payload is stored as it was sent
// (contract section 2).
#pragma once

#include <optional>
#include <string_view>

namespace coderunner::app {

// `object` must be a valid JSON text whose value is an object. The last of doubled members counts,
// as for the parser. nullopt where there is none.
std::optional<std::string_view> raw_member(std::string_view object, std::string_view name);

}  // namespace coderunner::app
