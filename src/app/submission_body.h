// A submission as a request's body brings it, JSON or a form. Called by the routes. Pure.
#pragma once

#include <variant>

#include "adapters/http_server/http.h"
#include "domain/admission_policy.h"

namespace coderunner::app {

inline constexpr std::string_view kFormType = "application/x-www-form-urlencoded";

// 415 on any media type but the two, where one is named at all.
std::optional<HttpResponse> media_type_error(const HttpRequest& request);

// Nothing of it is checked but its types; else the answer to give: 415, or 400 naming the field.
std::variant<SubmissionFields, HttpResponse> read_submission(const HttpRequest& request);

// The member `source` alone; 415 or 400 as above, and where it is missing or empty.
std::variant<std::string, HttpResponse> read_source(const HttpRequest& request);

}  // namespace coderunner::app
