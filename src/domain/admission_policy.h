// What a submission must be to be admitted, field by field (contract section 2). Called by the
// admission service; knows no HTTP, no JSON, no store. The first bad field is named, with what to
// do about it.
#pragma once

#include <optional>
#include <string>
#include <variant>

namespace coderunner {

struct SubmissionFields {  // as decoded from the request, nothing checked
  std::optional<std::string> account;
  std::optional<std::string> apikey;
  std::optional<std::string> source;
  std::optional<std::string> identifier;
  std::optional<std::string> payload;  // a JSON text, verbatim
  bool debug = false;
  std::optional<std::string> idempotency_key;  // the header
};

struct Submission {  // checked: safe to store and to build a host name from
  std::string account;
  std::string apikey;
  std::string source;
  std::optional<std::string> identifier;
  std::optional<std::string> payload;
  bool debug = false;
  std::optional<std::string> idempotency_key;
};

struct FieldError {
  std::string field;
  std::string message;
  friend bool operator==(const FieldError&, const FieldError&) = default;
};

// Whether `payload` is JSON is the caller's to know (a form brings it as text): this checks size
// and UTF-8.
std::variant<Submission, FieldError> check_submission(SubmissionFields fields);

// What two requests with one Idempotency-Key must agree in: every field, the API key too, and no
// two different submissions have the same text. A secret: to be hashed, never kept.
std::string request_text(const Submission& submission);

// Lower-cased, then [a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?; nullopt otherwise.
std::optional<std::string> normal_account(std::string account);

}  // namespace coderunner
