// Words on the command line into one value that says what to do. Called by main; the only room of
// CLI11 here. Runs nothing, reads no file.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/settings.h"
#include "base/ids.h"
#include "base/time.h"
#include "domain/limits.h"
#include "domain/state.h"
#include "sim/replay.h"

namespace coderunner::app {

struct ConfigOptions {
  std::optional<std::string> file;                            // --config
  std::vector<std::pair<std::string, std::string>> settings;  // --set KEY=VALUE
  friend bool operator==(const ConfigOptions&, const ConfigOptions&) = default;
};

struct ServerOptions {  // of every command that speaks HTTP
  std::string url;
  std::string token_file;
  bool json = false;
  friend bool operator==(const ServerOptions&, const ServerOptions&) = default;
};

struct ServeCommand {
  std::set<Role> roles{Role::api, Role::drainer, Role::executor};
  bool wait_lock = false;
  friend bool operator==(const ServeCommand&, const ServeCommand&) = default;
};
struct MigrateCommand {
  bool dry_run = false;
  bool json = false;
  friend bool operator==(const MigrateCommand&, const MigrateCommand&) = default;
};
struct SubmitCommand {
  ServerOptions server;
  std::string account;
  std::string key_file;
  std::string script;
  std::optional<std::string> identifier;
  std::optional<std::string> payload_file;
  bool debug = false;
  bool wait = false;
  friend bool operator==(const SubmitCommand&, const SubmitCommand&) = default;
};
struct StatusCommand {
  ServerOptions server;
  friend bool operator==(const StatusCommand&, const StatusCommand&) = default;
};
struct ListCommand {
  ServerOptions server;
  std::optional<std::string> account;
  std::optional<State> state;
  std::optional<ExecutionId> before;
  int limit = limits::kDefaultListed;
  friend bool operator==(const ListCommand&, const ListCommand&) = default;
};
struct ShowCommand {
  ServerOptions server;
  ExecutionId id;
  friend bool operator==(const ShowCommand&, const ShowCommand&) = default;
};
struct LogsCommand {
  ServerOptions server;
  ExecutionId id;
  bool follow = false;
  friend bool operator==(const LogsCommand&, const LogsCommand&) = default;
};
struct CheckCommand {
  std::string script;
  bool json = false;
  friend bool operator==(const CheckCommand&, const CheckCommand&) = default;
};

struct DoctorCommand {
  bool json = false;
  friend bool operator==(const DoctorCommand&, const DoctorCommand&) = default;
};

struct SimulateCommand {
  std::string trace;
  sim::ReplayOptions options;
  bool json = false;
  friend bool operator==(const SimulateCommand&, const SimulateCommand&) = default;
};

struct CancelCommand {  // one execution, or all of an account that are queued
  ServerOptions server;
  std::optional<ExecutionId> id;
  std::optional<std::string> account;
  bool dry_run = false;
  friend bool operator==(const CancelCommand&, const CancelCommand&) = default;
};
struct PauseCommand {
  ServerOptions server;
  std::optional<std::string> account;  // everybody
  friend bool operator==(const PauseCommand&, const PauseCommand&) = default;
};
struct ResumeCommand {
  ServerOptions server;
  std::optional<std::string> account;  // everybody
  friend bool operator==(const ResumeCommand&, const ResumeCommand&) = default;
};
struct AccountShowCommand {
  ServerOptions server;
  std::string account;
  friend bool operator==(const AccountShowCommand&, const AccountShowCommand&) = default;
};
struct AccountSetCommand {
  ServerOptions server;
  std::string account;
  std::optional<int> per_account;  // the default
  friend bool operator==(const AccountSetCommand&, const AccountSetCommand&) = default;
};
struct GateListCommand {
  ServerOptions server;
  friend bool operator==(const GateListCommand&, const GateListCommand&) = default;
};
struct GateSetCommand {
  ServerOptions server;
  ApiKeyHash key;
  Millis length{0};
  friend bool operator==(const GateSetCommand&, const GateSetCommand&) = default;
};
struct GateClearCommand {
  ServerOptions server;
  ApiKeyHash key;
  friend bool operator==(const GateClearCommand&, const GateClearCommand&) = default;
};

using Command =
    std::variant<ServeCommand, MigrateCommand, SubmitCommand, StatusCommand, ListCommand,
                 ShowCommand, LogsCommand, CheckCommand, SimulateCommand, DoctorCommand,
                 CancelCommand, PauseCommand, ResumeCommand, AccountShowCommand, AccountSetCommand,
                 GateListCommand, GateSetCommand, GateClearCommand>;

struct CommandLine {
  ConfigOptions config;
  Command command;
  friend bool operator==(const CommandLine&, const CommandLine&) = default;
};

struct NothingToRun {   // --help, --version, or bad usage
  int exit_status = 0;  // 0 or 2 (contract section 1)
  std::string output;
  std::string errors;
};

// `words` are argv without the program's name.
std::variant<CommandLine, NothingToRun> parse_command_line(const std::vector<std::string>& words);

}  // namespace coderunner::app
