// The answers every route gives, in the one shape of contract section 2. Called by the routes.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "adapters/http_server/http.h"
#include "app/json_views.h"
#include "base/result.h"
#include "domain/admission_policy.h"
#include "seams/script_check.h"

namespace coderunner::app {

inline constexpr std::string_view kJsonType = "application/json";

HttpResponse json_answer(int status, std::string body);
HttpResponse error_answer(int status, const ErrorView& error);
// Its code is the HTTP status.
HttpResponse plain_error(int status, std::string message);
// 400 that names the field.
HttpResponse field_error(const FieldError& error);
// 422, code 201; `execution` where a row was kept.
HttpResponse unparsable_answer(const SyntaxError& error, std::optional<ExecutionId> execution);
// 503 where the store is away or nobody knows what it did, else 500.
HttpResponse store_error(const Error& error);
// 405 with what is possible, as the Allow header has it.
HttpResponse method_error(std::string_view method, std::string_view allowed);

}  // namespace coderunner::app
