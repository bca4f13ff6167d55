#include "services/admission.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"
#include "domain/limits.h"

namespace coderunner {

Admission::Admission(AdmissionParts parts, std::function<void()> wake_drainer)
    : parts_(parts), wake_drainer_(std::move(wake_drainer)) {}

void Admission::submit(SubmissionFields fields, AdmissionDone done) {
  auto checked = check_submission(std::move(fields));
  if (const auto* error = std::get_if<FieldError>(&checked)) return done(*error);
  Submission& submission = std::get<Submission>(checked);
  if (auto error = parts_.script_check.check(submission.source))
    return refuse(std::move(submission), *std::move(error), std::move(done));
  admit(std::move(submission), std::move(done));
}

void Admission::admit(Submission submission, AdmissionDone done) {
  NewExecution execution{.ref = {random_hex_128(parts_.entropy)},
                         .account = submission.account,
                         .account_id = parts_.secrets.account_id(submission.account),
                         .key = parts_.secrets.api_key_hash(submission.apikey),
                         .sealed_key = parts_.secrets.seal(submission.apikey),
                         .source = std::move(submission.source),
                         .identifier = std::move(submission.identifier),
                         .payload = std::move(submission.payload),
                         .debug = submission.debug,
                         .queued_at = next_queued_at()};
  // Crash window admitted-unanswered: before the store's commit nothing was promised. After it the
  // row is queued, the client was not told and may send again; the drainer finds the row by its
  // poll.
  parts_.store.admit(std::move(execution),
                     [this, done = std::move(done)](Result<Admitted> admitted) {
                       if (!admitted) return done(admitted.error());
                       wake_drainer_();
                       done(*admitted);
                     });
}

void Admission::refuse(Submission submission, SyntaxError error, AdmissionDone done) {
  NewRefusal refusal{
      .account = submission.account,
      .account_id = parts_.secrets.account_id(submission.account),
      .identifier = std::move(submission.identifier),
      .source = clamp_utf8(submission.source, limits::kMaxRefusedSourceBytes),
      .code = ErrorCode::does_not_parse,
      .message = clamp_utf8("line " + std::to_string(error.line) + ": " + error.message,
                            limits::kMaxErrorMessageBytes),
      .at = next_queued_at()};
  parts_.store.refuse(std::move(refusal),
                      [error = std::move(error), done = std::move(done)](Result<ExecutionId> kept) {
                        if (!kept) return done(kept.error());
                        done(Unparsable{*kept, error});
                      });
}

// Never earlier than the one before (rulings 33): a clock stepped back would break first in, first
// out.
UtcTime Admission::next_queued_at() {
  const std::lock_guard lock{mutex_};
  last_queued_at_ = std::max(parts_.clock.utc_now(), last_queued_at_);
  return last_queued_at_;
}

}  // namespace coderunner
