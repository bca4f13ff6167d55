#include "executor/api_client.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "domain/limits.h"

namespace coderunner::executor {
namespace {

using Json = nlohmann::json;

constexpr const char* kRetryAfter = "retry_after";
constexpr int kErrorDepth = 4;  // root, error, details, a field, its first reason

std::string percent_decoded(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view digits = text.substr(at + 1, 2);
    const auto byte = text[at] == '%' && digits.size() == 2 ? from_hex(digits) : std::nullopt;
    plain += byte ? static_cast<char>(byte->front()) : text[at];
    if (byte) at += digits.size();
  }
  return plain;
}

// A segment that some server may take for "." or "..": with parameters after ';', too.
bool has_dot_segment(std::string_view path) {
  while (!path.empty()) {
    const std::size_t end = std::min(path.find_first_of("/\\"), path.size());
    const std::string_view segment = path.substr(0, end);
    const std::string_view name = segment.substr(0, segment.find(';'));
    if (name == "." || name == "..") return true;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return false;
}

// Whoever stands between may decode before it looks for "..", and more than once.
bool climbs(std::string_view path) {
  constexpr int kDecodings = 3;
  std::string plain{path.substr(0, path.find('?'))};
  for (int round = 0; round < kDecodings; ++round) {
    if (has_dot_segment(plain)) return true;
    std::string next = percent_decoded(plain);
    if (next == plain) return false;
    const bool has_control =
        std::ranges::any_of(next, [](char c) { return c >= 0 && (c < ' ' || c == 0x7F); });
    if (has_control || !is_valid_utf8(next)) return true;
    plain = std::move(next);
  }
  return true;
}

std::optional<std::string> text_at(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return std::nullopt;
  if (found->is_string()) return found->get<std::string>();
  if (found->is_number_integer()) return found->dump();
  return std::nullopt;
}

std::optional<double> number_at(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return std::nullopt;
  if (found->is_number()) return found->get<double>();
  if (!found->is_string()) return std::nullopt;
  const auto& text = found->get_ref<const std::string&>();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "title: The value must be a string." of {"title":["The value must be a string."]}
std::optional<std::string> first_reason(const Json& details) {
  for (const auto& [field, said] : details.items()) {
    const Json& reason = said.is_array() && !said.empty() ? said.front() : said;
    if (reason.is_string() && field != kRetryAfter)
      return field + ": " + reason.get_ref<const std::string&>();
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> refuse_path(std::string_view path) {
  if (!path.starts_with('/')) return "the path must start with '/'";
  if (path.starts_with("//")) return "the path must not start with '//'";
  if (path.size() > limits::kMaxApiPathBytes) return "the path is too long";
  for (const char c : path)
    if (c <= ' ' || c >= 0x7F || c == '\\' || c == '#')
      return "the path holds a character that must be percent-encoded";
  if (climbs(path)) return "the path must not hold a '.' or '..' segment";
  return std::nullopt;
}

ApiErrorDocument read_error_document(std::string_view body) {
  // The filter keeps a body of a million brackets from becoming a million values.
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kErrorDepth; };
  const Json document = Json::parse(body, shallow, false);
  if (!document.is_object()) return {};
  const auto error = document.find("error");
  if (error == document.end() || !error->is_object()) return {};
  ApiErrorDocument read{text_at(*error, "code"), text_at(*error, "message"), std::nullopt,
                        std::nullopt};
  const auto details = error->find("details");
  if (details != error->end() && details->is_object()) {
    read.retry_after = number_at(*details, kRetryAfter);
    read.detail = first_reason(*details);
  }
  if (!read.retry_after) read.retry_after = number_at(*error, kRetryAfter);
  return read;
}

}  // namespace coderunner::executor
