#include "services/admission.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"
#include "domain/limits.h"

namespace coderunner {
namespace {

std::string too_deep_message(const TooDeep& deep) {
  const std::string queued = deep.queued > deep.cap ? "more than " + std::to_string(deep.cap)
                                                    : std::to_string(deep.queued);
  return (deep.of == TooDeep::Of::account ? "this account has " + queued + " executions queued"
                                          : queued + " executions are queued in all") +
         ", and the cap is " + std::to_string(deep.cap);
}

AdmissionAnswer answered(const AdmitAnswer& given) {
  if (const auto* repeated = std::get_if<Repeated>(&given)) return *repeated;
  if (const auto* reused = std::get_if<KeyReused>(&given)) return *reused;
  return std::get<Admitted>(given);
}

}  // namespace

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
  const UtcTime now = next_queued_at();
  std::optional<Idempotency> idempotency;
  if (submission.idempotency_key)
    idempotency = Idempotency{*submission.idempotency_key,
                              parts_.secrets.request_hash(request_text(submission)),
                              now - limits::kIdempotencyKeyKept};
  NewExecution execution{.ref = {random_hex_128(parts_.entropy)},
                         .account = submission.account,
                         .account_id = parts_.secrets.account_id(submission.account),
                         .key = parts_.secrets.api_key_hash(submission.apikey),
                         .sealed_key = parts_.secrets.seal(submission.apikey),
                         .source = std::move(submission.source),
                         .identifier = std::move(submission.identifier),
                         .payload = std::move(submission.payload),
                         .debug = submission.debug,
                         .queued_at = now,
                         .idempotency = std::move(idempotency),
                         .caps = parts_.caps};
  NewRefusal refusal{.account = execution.account,
                     .account_id = execution.account_id,
                     .identifier = execution.identifier,
                     .source = std::nullopt,
                     .code = ErrorCode::rejected_for_depth,
                     .message = {},
                     .at = now};
  // Crash window admitted-unanswered: before the store's commit nothing was promised. After it the
  // row is queued, the client was not told and may send again; the drainer finds the row by its
  // poll.
  parts_.store.admit(std::move(execution),
                     [this, done = std::move(done),
                      refusal = std::move(refusal)](const Result<AdmitAnswer>& given) {
                       if (!given) return done(given.error());
                       if (const auto* too_deep = std::get_if<TooDeep>(&*given))
                         return reject(refusal, *too_deep, done);
                       if (std::holds_alternative<Admitted>(*given)) wake_drainer_();
                       done(answered(*given));
                     });
}

void Admission::reject(NewRefusal refusal, const TooDeep& too_deep, const AdmissionDone& done) {
  refusal.message = too_deep_message(too_deep);
  const Rejected rejected{{}, too_deep.of, refusal.message};
  parts_.store.refuse(std::move(refusal), [rejected, done](const Result<ExecutionId>& kept) {
    if (!kept) return done(kept.error());
    done(Rejected{*kept, rejected.full, rejected.message});
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
