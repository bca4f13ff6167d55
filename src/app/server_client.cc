#include "app/server_client.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "adapters/log/escape.h"
#include "adapters/system/file.h"

namespace coderunner::app {
namespace {

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

std::string url_of(const std::string& listen) {
  return listen.starts_with("unix:") ? listen : "http://" + listen;
}

Result<std::string> find_url(const ServerOptions& options, const ServerHints& hints,
                             const Settings& settings) {
  for (const std::string& url : {options.url, hints.url, settings.client.url})
    if (!url.empty()) {
      if (!url.starts_with("http://") && !url.starts_with("https://") && !url.starts_with("unix:"))
        return fail(
            Failure::invalid_input,
            fmt::format("\"{}\" is not a server: write http://HOST:PORT or unix:PATH", url));
      return without_slash(url);
    }
  if (settings.http.listen.ends_with(":0"))
    return fail(Failure::invalid_input,
                "http.listen leaves the port to the kernel: name the server with --url (`serve` "
                "prints its address)");
  return url_of(settings.http.listen);
}

Result<std::string> find_token(const ServerOptions& options, const ServerHints& hints,
                               const Settings& settings) {
  if (options.token_file.empty() && !hints.token.empty()) return hints.token;
  const std::string& file =
      options.token_file.empty() ? settings.client.token_file : options.token_file;
  if (file.empty()) return std::string{};
  auto token = read_file(file, limits::kMaxSecretFileBytes);
  if (token && token->ends_with('\n')) token->pop_back();
  return token;
}

}  // namespace

Result<ServerPlace> find_server(const ServerOptions& options, const ServerHints& hints,
                                const Settings& settings) {
  auto url = find_url(options, hints, settings);
  if (!url) return url.error();
  auto token = find_token(options, hints, settings);
  if (!token) return token.error();
  return ServerPlace{*std::move(url), *std::move(token)};
}

ServerClient::ServerClient(ServerPlace place)
    : place_(std::move(place)), http_({.url = place_.url, .token = place_.token}) {}

Result<std::string> ServerClient::get(const std::string& path, std::string* refusal) {
  return send({.method = "GET", .path = path}, refusal);
}

Result<std::string> ServerClient::post(const std::string& path, const std::string& json,
                                       std::string* refusal) {
  return send({.method = "POST", .path = path, .json = json}, refusal);
}

Result<std::string> ServerClient::send(const ClientRequest& request, std::string* refusal) {
  auto answer = http_.send(request);
  if (!answer && answer.error().kind == Failure::unavailable)
    return fail(Failure::unavailable,
                fmt::format("cannot reach {} ({}): is `coderunner serve` running?", place_.url,
                            answer.error().message));
  if (!answer && answer.error().kind == Failure::unknown_outcome)
    return fail(Failure::unknown_outcome,
                fmt::format("{} did not answer ({}): it may or may not have been done; look at "
                            "`coderunner list` before trying again",
                            place_.url, answer.error().message));
  if (!answer) return answer.error();
  if (answer->status / 100 == 2) return std::move(answer->body);
  const bool later = answer->status == 503 || answer->status == 429;
  const Error error = fail(later ? Failure::unavailable : Failure::invalid_input,
                           refusal_text(answer->status, answer->body));
  if (refusal != nullptr) *refusal = std::move(answer->body);
  return error;
}

std::string refusal_text(int status, std::string_view body) {
  using Json = nlohmann::json;
  const Json json = Json::parse(body, nullptr, false);
  const Json error = json.is_object() ? json.value("error", Json::object()) : Json::object();
  if (!error.is_object() || !error.contains("message") || !error["message"].is_string())
    return fmt::format("the server answered {}, which is not CodeRunner's way: is the URL right?",
                       status);
  std::string text = escape_controls(error["message"].get_ref<const std::string&>());
  if (const auto code = error.find("code");
      code != error.end() && code->is_number_integer() && code->get<int>() != status)
    text += fmt::format(" (code {})", code->get<int>());
  const Json details = error.value("details", Json::object());
  if (details.is_object() && details.contains("execution_id") &&
      details["execution_id"].is_number_integer())
    text += fmt::format("; kept as execution {}", details["execution_id"].get<std::int64_t>());
  if (status == 401 || status == 403) text += "; the token comes from --token-file";
  return text;
}

}  // namespace coderunner::app
