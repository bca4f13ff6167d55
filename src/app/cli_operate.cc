#include <fmt/format.h>

#include "adapters/http_server/http.h"
#include "app/cli_ask.h"
#include "app/cli_views.h"
#include "app/json_reading.h"
#include "app/text_table.h"

namespace coderunner::app {
namespace {

std::string as_body(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string account_path(const std::string& account) {
  return "/accounts/" + percent_encode(account);
}

std::string gate_path(const ApiKeyHash& key) { return "/gates/" + key.value; }

bool flag_at(const Json& object, const char* name) {
  const Json value = member(object, name);
  return value.is_boolean() && value.get<bool>();
}

std::string executions_of(std::int64_t count, const std::string& account) {
  return fmt::format("{} queued execution{} of {}", count, count == 1 ? "" : "s", account);
}

std::string cancelled_view(const std::string& body, const CancelCommand& command) {
  const Json json = parse(body);
  if (command.id) return fmt::format("execution {} is cancelled\n", text_at(json, "execution_id"));
  const std::string what =
      executions_of(number_at(json, "cancelled").value_or(0), *command.account);
  return command.dry_run ? what + " would be cancelled; without --dry-run they are\n"
                         : what + " cancelled\n";
}

std::string pause_view(const std::string& body) {
  const Json json = parse(body);
  const std::string account = text_at(json, "account");
  const std::string in_flight = count_at(json, "in_flight");
  if (account.empty())
    return fmt::format(
        "everything is paused: nothing new starts, {} in flight go on\n"
        "coderunner resume lifts it\n",
        in_flight);
  return fmt::format(
      "{0} is paused: nothing new of it starts, {1} in flight go on\n"
      "coderunner resume --account {0} lifts it\n",
      account, in_flight);
}

std::string resume_view(const std::string& body) {
  const Json json = parse(body);
  const std::string account = text_at(json, "account");
  if (account.empty())
    return "the pause of everything is lifted; an account paused by itself stays so until\n"
           "coderunner resume --account ACCOUNT\n";
  if (flag_at(json, "paused"))
    return fmt::format(
        "the pause of {} is lifted, but everything is paused: coderunner resume lifts that\n",
        account);
  return fmt::format("{} is resumed\n", account);
}

std::string account_view(const std::string& body) {
  const Json json = parse(body);
  const std::string cap = text_at(json, "per_account");
  const std::string account = text_at(json, "account");
  std::string text =
      fmt::format("account {}\n  in flight  {} of at most {}\n  queued     {}\n  paused     {}\n",
                  account, count_at(json, "in_flight"), cap.empty() ? "queue.per_account" : cap,
                  count_at(json, "queued"), flag_at(json, "paused") ? "yes" : "no");
  if (!cap.empty())
    text += fmt::format("coderunner account set {} --per-account default takes its cap away\n",
                        account);
  return text;
}

std::string gates_view(const std::string& body) {
  TextTable table{{"KEY", "UNTIL", "QUEUED", "CLOSED BY", "SEEN AT"}};
  for (const Json& gate : member(parse(body), "gates"))
    table.add({text_at(gate, "key"), text_at(gate, "until"), count_at(gate, "queued"),
               closed_by(number_at(gate, "status").value_or(0)), text_at(gate, "seen_at")});
  if (table.empty()) return "no key is gated\n";
  return table.text() + "coderunner gate clear KEYHASH opens one at once\n";
}

std::string gate_view(const std::string& body) {
  const Json json = parse(body);
  const std::string key = text_at(json, "key");
  return fmt::format("gated until {}: {} queued wait for it\ncoderunner gate clear {} opens it\n",
                     text_at(json, "until"), count_at(json, "queued"), key);
}

// POST /queue/pause and /queue/resume
ClientRequest pausing(const char* path, const std::optional<std::string>& account) {
  Json json = Json::object();
  if (account) json["account"] = *account;
  return {.method = "POST", .path = path, .json = as_body(json)};
}

}  // namespace

int run_cancel(const CancelCommand& command, const CommandContext& context) {
  ClientRequest request{.method = "POST", .path = "/executions/cancel", .json = {}};
  if (command.id)
    request.path = fmt::format("/executions/{}/cancel", command.id->value);
  else
    request.json =
        as_body({{"account", *command.account}, {"state", "queued"}, {"dry_run", command.dry_run}});
  return ask_and_print(request, command.server, context,
                       [&](const std::string& body) { return cancelled_view(body, command); });
}

int run_pause(const PauseCommand& command, const CommandContext& context) {
  return ask_and_print(pausing("/queue/pause", command.account), command.server, context,
                       pause_view);
}

int run_resume(const ResumeCommand& command, const CommandContext& context) {
  return ask_and_print(pausing("/queue/resume", command.account), command.server, context,
                       resume_view);
}

int run_account_show(const AccountShowCommand& command, const CommandContext& context) {
  return ask_and_print({.path = account_path(command.account)}, command.server, context,
                       account_view);
}

int run_account_set(const AccountSetCommand& command, const CommandContext& context) {
  const Json cap = command.per_account ? Json(*command.per_account) : Json(nullptr);
  return ask_and_print({.method = "PUT",
                        .path = account_path(command.account),
                        .json = as_body({{"per_account", cap}})},
                       command.server, context, account_view);
}

int run_gate_list(const GateListCommand& command, const CommandContext& context) {
  return ask_and_print({.path = "/gates"}, command.server, context, gates_view);
}

int run_gate_set(const GateSetCommand& command, const CommandContext& context) {
  return ask_and_print({.method = "PUT",
                        .path = gate_path(command.key),
                        .json = as_body({{"for_ms", command.length.count()}})},
                       command.server, context, gate_view);
}

int run_gate_clear(const GateClearCommand& command, const CommandContext& context) {
  return ask_and_print(
      {.method = "DELETE", .path = gate_path(command.key)}, command.server, context,
      [&](const std::string&) { return fmt::format("{} is not gated\n", command.key.value); });
}

}  // namespace coderunner::app
