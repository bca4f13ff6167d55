// The words of the operators' commands: cancel, pause, resume, account, gate. Part of
// command_line.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>

#include "app/command_line.h"

namespace coderunner::app {

// What the parser writes into; whichever subcommand was named is picked.
struct OperateDraft {
  CancelCommand cancel;
  PauseCommand pause;
  ResumeCommand resume;
  AccountShowCommand account_show;
  AccountSetCommand account_set;
  GateListCommand gate_list;
  GateSetCommand gate_set;
  GateClearCommand gate_clear;
  std::string cancel_state;
};

// A check of CLI11: empty for an execution's number.
std::string not_an_id(const std::string& word);

using AddServerOptions = std::function<void(CLI::App&, ServerOptions&)>;
void add_operating_commands(CLI::App& app, OperateDraft& draft, const AddServerOptions& add_server);

// nullopt where another command was named. Throws CLI::ValidationError on words that do not fit
// together.
std::optional<Command> pick_operating(const CLI::App& app, const OperateDraft& draft);

}  // namespace coderunner::app
