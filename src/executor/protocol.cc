#include "executor/protocol.h"

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace coderunner::executor {
namespace {

using Json = nlohmann::json;
using Fields = std::map<std::string, std::variant<std::string, std::int64_t>, std::less<>>;

constexpr std::array<std::pair<ScriptVerdict, std::string_view>, 5> kVerdicts{{
    {ScriptVerdict::success, "success"},
    {ScriptVerdict::syntax_error, "syntax_error"},
    {ScriptVerdict::error, "error"},
    {ScriptVerdict::loop_budget, "loop_budget"},
    {ScriptVerdict::memory, "memory"},
}};

// Accepts one flat object of texts and whole numbers. A script that nests a million brackets gets
// no memory out of its broker this way.
class FlatObject final : public nlohmann::json_sax<Json> {
 public:
  Fields fields;

  bool null() override { return false; }
  bool boolean(bool) override { return false; }
  bool number_integer(std::int64_t value) override { return keep(value); }
  bool number_unsigned(std::uint64_t value) override {
    return value <= INT64_MAX && keep(static_cast<std::int64_t>(value));
  }
  bool number_float(double, const std::string&) override { return false; }
  bool string(std::string& value) override { return keep(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return !std::exchange(open_, true); }
  bool key(std::string& name) override {
    key_ = std::move(name);
    return true;
  }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return false; }
  bool end_array() override { return false; }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
    return false;
  }

 private:
  template <class Value>
  bool keep(Value value) {
    return open_ && fields.emplace(std::move(key_), std::move(value)).second;
  }
  bool open_ = false;
  std::string key_;
};

std::optional<Fields> parse_fields(std::string_view json) {
  FlatObject object;
  if (!Json::sax_parse(json, &object)) return std::nullopt;
  return std::move(object.fields);
}

std::optional<std::string> text(Fields& fields, std::string_view name) {
  const auto found = fields.find(name);
  if (found == fields.end()) return std::nullopt;
  auto* value = std::get_if<std::string>(&found->second);
  return value == nullptr ? std::nullopt : std::optional{std::move(*value)};
}

std::optional<std::int64_t> integer(const Fields& fields, std::string_view name) {
  const auto found = fields.find(name);
  if (found == fields.end()) return std::nullopt;
  const auto* value = std::get_if<std::int64_t>(&found->second);
  return value == nullptr ? std::nullopt : std::optional{*value};
}

std::optional<int> status_of(const Fields& fields) {
  const auto status = integer(fields, "status");
  if (!status || *status < 100 || *status > 999) return std::nullopt;
  return static_cast<int>(*status);
}

void put(Json& json, const char* name, const std::optional<std::string>& value) {
  if (value) json[name] = *value;
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Error not_understood() { return fail(Failure::corrupt, "a frame that is not of the protocol"); }

}  // namespace

std::string to_json(const ScriptStart& start) {
  Json json{{"execution", start.execution.value}, {"source", start.source}};
  put(json, "payload", start.payload);
  put(json, "identifier", start.identifier);
  return dump(json);
}

std::string to_json(const FromScript& said) {
  Json json;
  if (const auto* log = std::get_if<ScriptLog>(&said))
    json = {{"say", "log"}, {"message", log->message}};
  if (const auto* call = std::get_if<ScriptCall>(&said)) {
    json = {{"say", "call"}, {"method", call->method}, {"path", call->path}};
    put(json, "body", call->body);
  }
  if (const auto* end = std::get_if<ScriptEnd>(&said)) {
    json = {{"say", "end"}, {"message", end->message}};
    for (const auto& [verdict, word] : kVerdicts)
      if (verdict == end->verdict) json["verdict"] = word;
  }
  return dump(json);
}

std::string to_json(const CallAnswer& answer) {
  Json json;
  if (const auto* result = std::get_if<CallResult>(&answer)) {
    json = {{"say", "result"}, {"status", result->status}};
    put(json, "body", result->body);
  } else {
    const CallError& error = std::get<CallError>(answer);
    json = {{"say", "error"}, {"message", error.message}};
    if (error.status) json["status"] = *error.status;
    put(json, "code", error.code);
  }
  return dump(json);
}

Result<ScriptStart> parse_script_start(std::string_view json) {
  auto fields = parse_fields(json);
  if (!fields) return not_understood();
  const auto execution = integer(*fields, "execution");
  auto source = text(*fields, "source");
  if (!execution || !source) return not_understood();
  return ScriptStart{ExecutionId{*execution}, std::move(*source), text(*fields, "payload"),
                     text(*fields, "identifier")};
}

Result<FromScript> parse_from_script(std::string_view json) {
  auto fields = parse_fields(json);
  if (!fields) return not_understood();
  const auto say = text(*fields, "say");
  auto message = text(*fields, "message");
  if (say == "log" && message) return FromScript{ScriptLog{std::move(*message)}};
  if (say == "call") {
    auto method = text(*fields, "method"), path = text(*fields, "path");
    if (!method || !path) return not_understood();
    return FromScript{ScriptCall{std::move(*method), std::move(*path), text(*fields, "body")}};
  }
  if (say == "end" && message) {
    const auto word = text(*fields, "verdict");
    for (const auto& [verdict, known] : kVerdicts)
      if (word == known) return FromScript{ScriptEnd{verdict, std::move(*message)}};
  }
  return not_understood();
}

Result<CallAnswer> parse_call_answer(std::string_view json) {
  auto fields = parse_fields(json);
  if (!fields) return not_understood();
  const auto say = text(*fields, "say");
  const auto status = status_of(*fields);
  if (say == "result" && status) return CallAnswer{CallResult{*status, text(*fields, "body")}};
  auto message = text(*fields, "message");
  if (say == "error" && message)
    return CallAnswer{CallError{status, text(*fields, "code"), std::move(*message)}};
  return not_understood();
}

}  // namespace coderunner::executor
