#include "executor/api_client.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "domain/limits.h"

namespace coderunner::executor {
namespace {

using Json = nlohmann::json;

constexpr const char* kRetryAfter = "retry_after";
constexpr int kErrorDepth = 4;  // root, error, details, a field, its first reason

std::string decode_dots(std::string_view segment) {
  std::string plain;
  for (std::size_t at = 0; at < segment.size(); ++at) {
    const std::string_view next = segment.substr(at, 3);
    if (next == "%2e" || next == "%2E") {
      plain += '.';
      at += 2;
    } else {
      plain += segment[at];
    }
  }
  return plain;
}

bool climbs(std::string_view path) {
  path = path.substr(0, path.find('?'));
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string segment = decode_dots(path.substr(0, slash));
    if (segment == "." || segment == "..") return true;
    path.remove_prefix(slash);
  }
  return false;
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
