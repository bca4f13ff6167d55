#include <fmt/format.h>

#include <optional>
#include <utility>

#include "adapters/http_server/http.h"
#include "app/cli_ask.h"
#include "app/cli_views.h"
#include "app/patience.h"

namespace coderunner::app {
namespace {

std::string execution_path(ExecutionId id) { return fmt::format("/executions/{}", id.value); }

std::string logs_path(ExecutionId id, std::int64_t after) {
  return fmt::format("{}/logs?after={}", execution_path(id), after);
}

// Prints the lines after `after` page by page; answers the last line's place.
Result<std::int64_t> print_new_lines(ServerClient& server, const LogsCommand& command,
                                     std::int64_t after, const CommandContext& context) {
  for (bool first = true;; first = false) {
    std::string refusal;
    const auto body = server.get(logs_path(command.id, after), &refusal);
    if (!body && command.server.json && !refusal.empty()) context.out(refusal + "\n");
    if (!body) return body.error();
    const auto page = log_page(*body);
    if (!page) return fail(Failure::internal, "the server's answer is not a page of log lines");
    const bool worth_printing = page->lines > 0 || (first && after == 0 && !command.follow);
    if (command.server.json && worth_printing) context.out(*body + "\n");
    if (!command.server.json) context.out(page->text);
    after = page->next;
    if (page->lines == 0) return after;
  }
}

Result<bool> has_ended(ServerClient& server, ExecutionId id) {
  const auto body = server.get(execution_path(id));
  if (!body) return body.error();
  const auto progress = progress_of(*body);
  if (!progress) return fail(Failure::internal, "the server's answer is not an execution");
  return progress->finished;
}

// One round of following: true once the execution has ended and its lines are printed.
Result<bool> follow_once(ServerClient& server, const LogsCommand& command, std::int64_t& after,
                         const CommandContext& context) {
  // Asked before the lines are: what is written before the end is then surely printed.
  const auto ended = has_ended(server, command.id);
  if (!ended) return ended.error();
  const auto next = print_new_lines(server, command, after, context);
  if (!next) return next.error();
  after = *next;
  return *ended;
}

}  // namespace

int run_status(const StatusCommand& command, const CommandContext& context) {
  return ask_and_print({.path = "/queue/data"}, command.server, context, status_view);
}

int run_list(const ListCommand& command, const CommandContext& context) {
  std::string path = fmt::format("/codeRunner/logs/data?limit={}", command.limit);
  if (command.account) path += "&account=" + percent_encode(*command.account);
  if (command.state) path += fmt::format("&state={}", to_text(*command.state));
  if (command.before) path += fmt::format("&before={}", command.before->value);
  return ask_and_print({.path = path}, command.server, context, [&](const std::string& body) {
    return list_view(body, context.clock.utc_now());
  });
}

int run_show(const ShowCommand& command, const CommandContext& context) {
  auto place = find_server(command.server, context.hints, context.settings);
  if (!place) return report(place.error(), context);
  ServerClient server{*std::move(place)};
  std::string refusal;
  const auto body = server.get(execution_path(command.id), &refusal);
  if (!body) return report_refusal(body.error(), refusal, command.server.json, context);
  if (command.server.json) {
    context.out(show_json(*body) + "\n");
    return kSuccess;
  }
  // What closed the gate is an operator's to read: whoever may not is shown the rest.
  std::string gates;
  if (waits_for_gate(*body))
    if (auto read = server.get("/gates")) gates = *std::move(read);
  context.out(show_view(*body, context.clock.utc_now(), gates));
  return kSuccess;
}

int run_logs(const LogsCommand& command, const CommandContext& context) {
  auto place = find_server(command.server, context.hints, context.settings);
  if (!place) return report(place.error(), context);
  ServerClient server{*std::move(place)};
  if (!command.follow) {
    const auto printed = print_new_lines(server, command, 0, context);
    return printed ? kSuccess : report_refusal(printed.error(), {}, false, context);
  }
  Patience patience;
  for (std::int64_t after = 0;;) {
    const auto ended = follow_once(server, command, after, context);
    if (!ended && !patience.forgives(ended.error()))
      return report_refusal(ended.error(), {}, false, context);
    if (ended && *ended) return kSuccess;
    if (ended) patience = {};
    context.pause(limits::kFollowInterval);
  }
}

}  // namespace coderunner::app
