// One request of a command to the server, and what the command prints of its answer or refusal.
// Called by cli_*.cc.
#pragma once

#include <functional>
#include <string>

#include "app/cli_commands.h"

namespace coderunner::app {

// The exit status of a failure before the server was asked.
int report(const Error& error, const CommandContext& context);
// The exit status of a refusal. With --json its body is data too.
int report_refusal(const Error& error, const std::string& refusal, bool json,
                   const CommandContext& context);

using BodyView = std::function<std::string(const std::string& body)>;

std::string unchanged(const std::string& body);

// Asks once and prints `view` of the body, or with --json `json` of it on a line of its own.
int ask_and_print(const ClientRequest& request, const ServerOptions& options,
                  const CommandContext& context, const BodyView& view,
                  const BodyView& json = unchanged);

}  // namespace coderunner::app
