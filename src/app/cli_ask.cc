#include "app/cli_ask.h"

#include <utility>

namespace coderunner::app {

int report(const Error& error, const CommandContext& context) {
  context.err(error.message);
  return error.kind == Failure::invalid_input ? kBadUsage : kFailed;
}

int report_refusal(const Error& error, const std::string& refusal, bool json,
                   const CommandContext& context) {
  if (json && !refusal.empty()) context.out(refusal + "\n");
  context.err(error.message);
  return kFailed;
}

std::string unchanged(const std::string& body) { return body; }

int ask_and_print(const ClientRequest& request, const ServerOptions& options,
                  const CommandContext& context, const BodyView& view, const BodyView& json) {
  auto place = find_server(options, context.hints, context.settings);
  if (!place) return report(place.error(), context);
  ServerClient server{*std::move(place)};
  std::string refusal;
  const auto body = server.send(request, &refusal);
  if (!body) return report_refusal(body.error(), refusal, options.json, context);
  if (!options.json) context.out(view(*body));
  if (options.json && !body->empty()) context.out(json(*body) + "\n");
  return kSuccess;
}

}  // namespace coderunner::app
