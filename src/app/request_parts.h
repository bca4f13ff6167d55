// What a request says, taken apart: its media type, the numbers of its path, the members of its
// body. Called by the routes and json_views. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/http_server/http.h"
#include "base/result.h"
#include "domain/admission_policy.h"

namespace coderunner::app {

using Json = nlohmann::ordered_json;

// "application/json; charset=utf-8" -> "application/json"; lower case.
std::string media_type(const HttpRequest& request);

// Digits only; nullopt on anything else.
std::optional<std::int64_t> whole_number(std::string_view text);

// invalid_input: no JSON, or no object.
Result<Json> json_object(std::string_view body);

// Each reads one optional member; a null counts as absent. FieldError where it is of another type.
std::optional<FieldError> take_text(const Json& object, const char* name,
                                    std::optional<std::string>& into);
std::optional<FieldError> take_flag(const Json& object, const char* name, bool& into);

}  // namespace coderunner::app
