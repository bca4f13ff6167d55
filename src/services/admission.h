// The door: checks a submission, holds the queue's depth to its caps, keeps what it refuses as a
// visible row, and acknowledges an execution only once it is durable. Called by the routes, from
// any thread; knows neither caps of running work nor who will run it.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <variant>

#include "domain/admission_policy.h"
#include "seams/clock.h"
#include "seams/entropy.h"
#include "seams/script_check.h"
#include "seams/secrets.h"
#include "seams/store.h"

namespace coderunner {

struct Unparsable {  // kept as a row, code 201
  ExecutionId execution;
  SyntaxError error;
};

struct Rejected {  // kept as a row, code 107
  ExecutionId execution;
  TooDeep::Of full = TooDeep::Of::account;
  std::string message;  // with both numbers (R83)
};

// Admitted: queued and durable. Repeated, KeyReused: what its Idempotency-Key has admitted stands.
// FieldError: nothing was kept. Error: the store could not keep it (or can not say).
using AdmissionAnswer =
    std::variant<Admitted, Repeated, KeyReused, Rejected, FieldError, Unparsable, Error>;
using AdmissionDone = std::function<void(AdmissionAnswer)>;

struct AdmissionParts {
  AdmissionStore& store;
  const ScriptCheck& script_check;
  Secrets& secrets;
  Entropy& entropy;
  const Clock& clock;
  DepthCaps caps = {};
};

class Admission {
 public:
  // `wake_drainer` is called after each durable admission (rulings 22); it must not block.
  Admission(AdmissionParts parts, std::function<void()> wake_drainer);

  // `done` is called exactly once, from this thread or the store's.
  void submit(SubmissionFields fields, AdmissionDone done);

 private:
  void admit(Submission submission, AdmissionDone done);
  void refuse(Submission submission, SyntaxError error, AdmissionDone done);
  void reject(NewRefusal refusal, const TooDeep& too_deep, const AdmissionDone& done);
  UtcTime next_queued_at();

  AdmissionParts parts_;
  std::function<void()> wake_drainer_;
  std::mutex mutex_;
  UtcTime last_queued_at_;
};

}  // namespace coderunner
