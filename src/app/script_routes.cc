#include "app/script_routes.h"

#include <sys/eventfd.h>

#include <exception>
#include <memory>
#include <utility>

#include "app/answers.h"
#include "app/submission_body.h"
#include "domain/limits.h"
#include "executor/test_call.h"

namespace coderunner::app {

ScriptRoutes::ScriptRoutes(ScriptRoutesParts parts)
    : parts_(std::move(parts)),
      cut_(::eventfd(0, EFD_CLOEXEC)),
      pool_(limits::kTestPlaces, limits::kTestPlaces) {}

void ScriptRoutes::stop() {
  ::eventfd_write(cut_.get(), 1);
  pool_.stop();
}

void ScriptRoutes::test(const HttpRequest& request, const HttpRespond& respond) {
  if (!parts_.open_run)
    return respond(plain_error(501, "no built-in executor runs in this server"));
  if (parts_.stopping) return respond(plain_error(503, "the server is stopping"));
  if (places_taken_.fetch_add(1) >= limits::kTestPlaces) {
    --places_taken_;
    return respond(plain_error(503, "both places for test runs are taken; try again"));
  }
  // Shared, because work is copied.
  const auto client = std::make_shared<executor::Descriptor>(
      request.duplicate_connection ? request.duplicate_connection() : -1);
  const bool taken = pool_.post([this, request, client, respond] {
    HttpResponse response;
    try {
      response = answer_test(request, std::move(*client));
    } catch (const std::exception&) {
      response = plain_error(500, "this request could not be handled");
    }
    --places_taken_;  // before the answer: who reads it may come again at once
    respond(std::move(response));
  });
  if (taken) return;
  --places_taken_;
  respond(plain_error(503, "the server is stopping"));
}

HttpResponse ScriptRoutes::answer_test(const HttpRequest& request,
                                       executor::Descriptor client) const {
  auto decoded = read_submission(request);
  if (auto* refusal = std::get_if<HttpResponse>(&decoded)) return std::move(*refusal);
  auto checked = check_submission(std::get<SubmissionFields>(std::move(decoded)));
  if (const auto* error = std::get_if<FieldError>(&checked)) return field_error(*error);
  auto& submission = std::get<Submission>(checked);
  if (const auto error = parts_.script_check.check(submission.source))
    return unparsable_answer(*error, std::nullopt);
  return run(std::move(submission), std::move(client));
}

HttpResponse ScriptRoutes::run(Submission submission, executor::Descriptor client) const {
  auto lane = parts_.open_run();
  if (!lane) return plain_error(503, lane.error().message);
  const ApiKeyHash key = parts_.secrets.api_key_hash(submission.apikey);
  const auto answer =
      executor::hold_test({std::move(*lane), std::move(client), parts_.wall, cut_.get()},
                          {std::move(submission.account), std::move(submission.apikey), key,
                           std::move(submission.source), std::move(submission.payload),
                           std::move(submission.identifier), submission.debug},
                          parts_.clock);
  if (const auto* refused = std::get_if<executor::TestRefused>(&answer))
    return plain_error(503, refused->why);
  return json_answer(200, test_report_json(std::get<executor::TestReport>(answer)));
}

HttpResponse ScriptRoutes::lint(const HttpRequest& request) const {
  auto source = read_source(request);
  if (auto* refusal = std::get_if<HttpResponse>(&source)) return std::move(*refusal);
  return json_answer(200, lint_json(parts_.script_check.check(std::get<std::string>(source))));
}

}  // namespace coderunner::app
