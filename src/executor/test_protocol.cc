#include "executor/test_protocol.h"

#include <sys/socket.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "executor/frame.h"

namespace coderunner::executor {
namespace {

using Json = nlohmann::json;

// What the end of a run in the test lane can be.
constexpr std::array kCodes{ErrorCode::does_not_parse, ErrorCode::script_error, ErrorCode::fatal,
                            ErrorCode::ended_from_outside};

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class T>
void put(Json& json, const char* name, const std::optional<T>& value) {
  if (value) json[name] = *value;
}

template <class T>
std::optional<T> take(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found == json.end() ? std::nullopt : std::optional{found->template get<T>()};
}

Json line_json(const LogLine& line) {
  Json json{
      {"say", "line"}, {"at", epoch_ms(line.at)}, {"level", line.level}, {"message", line.message}};
  if (!line.call) return json;
  Json call{{"method", line.call->method},
            {"path", line.call->path},
            {"ms", line.call->duration.count()},
            {"attempt", line.call->attempt}};
  put(call, "status", line.call->status);
  put(call, "remaining", line.call->remaining);
  json["call"] = std::move(call);
  return json;
}

LogLine line_in(const Json& json) {
  LogLine line;
  line.at = utc_from_epoch_ms(json.at("at").get<std::int64_t>());
  line.level = json.at("level").get<std::string>();
  line.message = json.at("message").get<std::string>();
  if (const auto call = json.find("call"); call != json.end())
    line.call = ApiCall{call->at("method").get<std::string>(),
                        call->at("path").get<std::string>(),
                        take<int>(*call, "status"),
                        Millis{call->at("ms").get<std::int64_t>()},
                        call->at("attempt").get<int>(),
                        take<int>(*call, "remaining")};
  return line;
}

Error not_understood() { return fail(Failure::corrupt, "a frame that is not of the test lane"); }

Result<FromTest> said_in(const Json& json) {
  const auto say = json.at("say").get<std::string>();
  if (say == "started") return FromTest{TestStarted{}};
  if (say == "refused") return FromTest{TestRefused{json.at("why").get<std::string>()}};
  if (say == "line") return FromTest{line_in(json)};
  if (say != "end") return not_understood();
  Outcome outcome{std::nullopt, json.at("message").get<std::string>()};
  const auto code = take<int>(json, "code");
  for (const ErrorCode known : kCodes)
    if (code == number(known)) outcome.code = known;
  if (code && !outcome.code) return not_understood();
  return FromTest{std::move(outcome)};
}

}  // namespace

std::string test_request_json(const TestRequest& request) {
  Json json{{"account", request.account},
            {"api_key", request.api_key},
            {"key", request.key.value},
            {"source", request.source},
            {"debug", request.debug}};
  put(json, "payload", request.payload);
  put(json, "identifier", request.identifier);
  return dump(json);
}

std::string from_test_json(const FromTest& said) {
  if (const auto* line = std::get_if<LogLine>(&said)) return dump(line_json(*line));
  if (const auto* refused = std::get_if<TestRefused>(&said))
    return dump(Json{{"say", "refused"}, {"why", refused->why}});
  const auto* outcome = std::get_if<Outcome>(&said);
  if (outcome == nullptr) return dump(Json{{"say", "started"}});
  Json json{{"say", "end"}, {"message", outcome->message}};
  if (outcome->code) json["code"] = number(*outcome->code);
  return dump(json);
}

Result<TestRequest> parse_test_request(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    return TestRequest{json.at("account").get<std::string>(), json.at("api_key").get<std::string>(),
                       {json.at("key").get<std::string>()},   json.at("source").get<std::string>(),
                       take<std::string>(json, "payload"),    take<std::string>(json, "identifier"),
                       json.at("debug").get<bool>()};
  } catch (const Json::exception&) {
    return not_understood();
  }
}

Result<FromTest> parse_from_test(std::string_view text) {
  try {
    return said_in(Json::parse(text));
  } catch (const Json::exception&) {
    return not_understood();
  }
}

void refuse_test(int socket, const std::string& why) {
  const std::string frame = to_frame(from_test_json(TestRefused{why}));
  ::send(socket, frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace coderunner::executor
