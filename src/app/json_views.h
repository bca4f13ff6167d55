// The JSON of contract section 2, made from the services' values, and submissions read from JSON or
// forms. Called by the routes only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "domain/admission_policy.h"
#include "domain/execution.h"
#include "executor/test_call.h"
#include "seams/script_check.h"
#include "services/observatory.h"

namespace coderunner::app {

struct ErrorView {
  int code = 500;  // of the family of contract section 4, or the HTTP status
  std::string message;
  std::string field;  // details.field, where one is to blame
  std::optional<int> line;
  std::optional<ExecutionId> execution;
  bool outcome_unknown = false;
};
std::string error_json(const ErrorView& error);

std::string admitted_json(ExecutionId execution, JobId job, Status status);
std::string execution_json(const ExecutionReport& report,
                           const std::optional<ExecutionText>& text);  // text only where asked for
// `next` is the id to ask `before`; null where the page was not full.
std::string executions_json(const std::vector<ExecutionReport>& reports, int limit);
// `next` is what to ask `after` for later lines, also while there are none yet.
std::string logs_json(const std::vector<LogLine>& lines, LogId after);

struct ExecutorFigures {
  int children = 0;
  int max_children = 0;
  std::int64_t max_children_reached = 0;
};
std::string queue_json(const QueueReport& report, const ExecutorFigures& executor);
std::string ready_json(const std::vector<std::string>& reasons);

std::string test_report_json(const executor::TestReport& report);
std::string lint_json(const std::optional<SyntaxError>& error);

// The fields of a submission as sent; FieldError names the first of a wrong type. invalid_input:
// not JSON at all.
std::variant<SubmissionFields, FieldError, Error> submission_from_json(std::string_view body);
std::variant<SubmissionFields, FieldError, Error> submission_from_form(std::string_view body);

}  // namespace coderunner::app
