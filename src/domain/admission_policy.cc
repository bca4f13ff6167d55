#include "domain/admission_policy.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "domain/limits.h"

namespace coderunner {
namespace {

bool is_label_character(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// A key travels in a header line: printable ASCII, no space at either end or inside.
bool is_header_safe(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

std::optional<FieldError> check_required(const SubmissionFields& fields) {
  if (!fields.account) return FieldError{"account", "account is missing"};
  if (!fields.apikey) return FieldError{"apikey", "apikey is missing"};
  if (!fields.source) return FieldError{"source", "source is missing"};
  if (fields.account->empty()) return FieldError{"account", "account is empty"};
  if (fields.apikey->empty()) return FieldError{"apikey", "apikey is empty"};
  if (fields.source->empty()) return FieldError{"source", "source is empty"};
  return std::nullopt;
}

std::optional<FieldError> check_idempotency_key(const std::optional<std::string>& key) {
  if (!key) return std::nullopt;
  const bool printable =
      std::all_of(key->begin(), key->end(), [](char c) { return c >= ' ' && c < '\x7f'; });
  if (!key->empty() && key->size() <= limits::kMaxIdempotencyKeyBytes && printable)
    return std::nullopt;
  return FieldError{"Idempotency-Key", "Idempotency-Key must be 1 to 255 printable ASCII"};
}

// "4:acme": where one field ends and the next begins can not be argued about.
void append_field(std::string& text, const std::optional<std::string>& field) {
  if (field) text.append(std::to_string(field->size())).append(":").append(*field);
  text.push_back(';');
}

std::optional<FieldError> check_text(const SubmissionFields& fields) {
  if (!is_valid_utf8(*fields.source)) return FieldError{"source", "source is not valid UTF-8"};
  if (fields.source->find('\0') != std::string::npos)
    return FieldError{"source", "source contains a NUL byte"};
  if (fields.identifier) {
    if (!is_valid_utf8(*fields.identifier))
      return FieldError{"identifier", "identifier is not valid UTF-8"};
    if (fields.identifier->find('\0') != std::string::npos)
      return FieldError{"identifier", "identifier contains a NUL byte"};
    if (count_characters(*fields.identifier) > limits::kMaxIdentifierCharacters)
      return FieldError{"identifier", "identifier is longer than 255 characters"};
  }
  if (fields.payload) {
    if (!is_valid_utf8(*fields.payload)) return FieldError{"payload", "payload is not valid UTF-8"};
    if (fields.payload->size() > limits::kMaxPayloadBytes)
      return FieldError{"payload", "payload is larger than 256 KiB of JSON text"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> normal_account(std::string account) {
  for (char& c : account)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const bool right_size = !account.empty() && account.size() <= limits::kMaxAccountBytes;
  if (!right_size || !is_label_character(account.front()) || !is_label_character(account.back()))
    return std::nullopt;
  for (const char c : account)
    if (!is_label_character(c) && c != '-') return std::nullopt;
  return account;
}

std::string request_text(const Submission& submission) {
  std::string text = "request;";
  append_field(text, submission.account);
  append_field(text, submission.apikey);
  append_field(text, submission.source);
  append_field(text, submission.identifier);
  append_field(text, submission.payload);
  text.append(submission.debug ? "debug" : "");
  return text;
}

std::variant<Submission, FieldError> check_submission(SubmissionFields fields) {
  if (auto error = check_required(fields)) return *std::move(error);
  auto account = normal_account(*std::move(fields.account));
  if (!account)
    return FieldError{"account",
                      "account must be a subdomain: letters, digits and inner hyphens, at most 63"};
  if (fields.apikey->size() > limits::kMaxApiKeyBytes || !is_header_safe(*fields.apikey))
    return FieldError{"apikey", "apikey must be printable ASCII without spaces, at most 1024"};
  if (auto error = check_text(fields)) return *std::move(error);
  if (auto error = check_idempotency_key(fields.idempotency_key)) return *std::move(error);
  return Submission{.account = *std::move(account),
                    .apikey = *std::move(fields.apikey),
                    .source = *std::move(fields.source),
                    .identifier = std::move(fields.identifier),
                    .payload = std::move(fields.payload),
                    .debug = fields.debug,
                    .idempotency_key = std::move(fields.idempotency_key)};
}

}  // namespace coderunner
