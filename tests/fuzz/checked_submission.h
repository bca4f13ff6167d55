// What must hold of whatever the doors let in, however it was written. For the fuzzers of both
// bodies.
#pragma once

#include <algorithm>
#include <utility>
#include <variant>

#include "base/ensure.h"
#include "base/text.h"
#include "domain/admission_policy.h"
#include "domain/limits.h"

namespace coderunner {

inline void check_what_is_admitted(SubmissionFields fields) {
  const auto checked = check_submission(std::move(fields));
  const auto* admitted = std::get_if<Submission>(&checked);
  if (admitted == nullptr) {
    ensure(!std::get<FieldError>(checked).message.empty(), "a refusal that says nothing");
    return;
  }
  ensure(normal_account(admitted->account) == admitted->account, "an account that is no label");
  ensure(!admitted->apikey.empty() && !admitted->source.empty(), "an empty field was let in");
  ensure(admitted->apikey.find_first_of("\r\n") == std::string::npos, "a key that ends a header");
  ensure(!admitted->payload || admitted->payload->size() <= limits::kMaxPayloadBytes,
         "a payload beyond its limit");
  for (const std::string* text : {&admitted->source, &admitted->apikey})
    ensure(replace_invalid_utf8(*text) == *text, "text that is no UTF-8");
  ensure(!request_text(*admitted).empty(), "no text to compare requests by");
}

}  // namespace coderunner
