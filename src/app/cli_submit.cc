#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "adapters/system/file.h"
#include "app/cli_commands.h"
#include "app/cli_views.h"
#include "app/patience.h"
#include "base/text.h"

namespace coderunner::app {
namespace {

struct SubmissionTexts {
  std::string key;
  std::string script;
  std::optional<std::string> payload;
};

Result<std::string> read_utf8(const std::string& path) {
  auto text = read_file(path, limits::kMaxScriptFileBytes);
  if (text && !is_valid_utf8(*text))
    return fail(Failure::invalid_input, fmt::format("{} is not UTF-8 text", path));
  return text;
}

Result<SubmissionTexts> read_texts(const SubmitCommand& command) {
  SubmissionTexts texts;
  auto key = read_file(command.key_file, limits::kMaxSecretFileBytes);
  if (!key) return key.error();
  texts.key = *std::move(key);
  if (texts.key.ends_with('\n')) texts.key.pop_back();
  if (texts.key.empty() || !is_valid_utf8(texts.key))
    return fail(Failure::invalid_input, fmt::format("{} holds no API key", command.key_file));
  auto script = read_utf8(command.script);
  if (!script) return script.error();
  texts.script = *std::move(script);
  if (!command.payload_file) return texts;
  auto payload = read_utf8(*command.payload_file);
  if (!payload) return payload.error();
  if (!nlohmann::json::accept(*payload))
    return fail(Failure::invalid_input,
                fmt::format("{} is not a JSON value", *command.payload_file));
  texts.payload = *std::move(payload);
  return texts;
}

Result<std::string> submission_json(const SubmitCommand& command, const SubmissionTexts& texts) {
  for (const std::string& word : {command.account, command.identifier.value_or("")})
    if (!is_valid_utf8(word))
      return fail(Failure::invalid_input, "the command line is not UTF-8 text");
  nlohmann::ordered_json json{
      {"account", command.account}, {"apikey", texts.key}, {"source", texts.script}};
  if (command.identifier) json["identifier"] = *command.identifier;
  if (command.debug) json["debug"] = true;
  std::string body = json.dump();
  // Stored verbatim, so sent verbatim: through a parser its numbers and its order would change.
  if (texts.payload) {
    body.pop_back();
    body += ",\"payload\":" + *texts.payload + "}";
  }
  return body;
}

// Follows to the end; the last answer's body and what it says.
Result<std::pair<std::string, Progress>> follow(ServerClient& server, std::int64_t id,
                                                const CommandContext& context) {
  Patience patience;
  for (;;) {
    auto body = server.get(fmt::format("/executions/{}", id));
    if (!body && !patience.forgives(body.error())) return body.error();
    if (body) {
      patience = {};
      auto progress = progress_of(*body);
      if (!progress) return fail(Failure::internal, "the server's answer is not an execution");
      if (progress->finished) return std::pair{*std::move(body), *std::move(progress)};
    }
    context.pause(limits::kFollowInterval);
  }
}

int wait_for_end(ServerClient& server, const SubmitCommand& command, std::int64_t id,
                 const CommandContext& context) {
  const auto end = follow(server, id, context);
  if (!end) {
    context.err(fmt::format("{}; execution {} is admitted: `coderunner show {}`",
                            end.error().message, id, id));
    return kFailed;
  }
  const auto& [body, progress] = *end;
  context.out((command.server.json ? body : progress.line) + "\n");
  return progress.succeeded ? kSuccess : kFailed;
}

}  // namespace

int run_submit(const SubmitCommand& command, const CommandContext& context) {
  const auto refuse = [&](const Error& error, int status) {
    context.err(error.message);
    return status;
  };
  const auto texts = read_texts(command);
  if (!texts) return refuse(texts.error(), kFailed);
  const auto json = submission_json(command, *texts);
  if (!json) return refuse(json.error(), kBadUsage);
  auto place = find_server(command.server, context.hints, context.settings);
  if (!place) return refuse(place.error(), kBadUsage);
  ServerClient server{*std::move(place)};

  std::string refusal;
  const auto body = server.post("/codeRunner", *json, &refusal);
  if (!body) {
    if (command.server.json && !refusal.empty()) context.out(refusal + "\n");
    return refuse(body.error(), kFailed);
  }
  const auto id = admitted_id(*body);
  if (!id)
    return refuse(fail(Failure::internal, "the server's answer names no execution"), kFailed);
  if (!command.server.json)
    context.out(fmt::format("execution {} queued\n", *id));
  else if (!command.wait)
    context.out(*body + "\n");
  return command.wait ? wait_for_end(server, command, *id, context) : kSuccess;
}

}  // namespace coderunner::app
