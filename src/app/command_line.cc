#include "app/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <sstream>

#include "adapters/log/escape.h"
#include "app/command_line_operate.h"
#include "base/time.h"

namespace coderunner::app {
namespace {

constexpr int kBadUsage = 2;

const std::vector<std::pair<std::string, Role>> kRoles{
    {"api", Role::api}, {"drainer", Role::drainer}, {"executor", Role::executor}};

const std::map<std::string, sim::Policy> kPolicies{{"none", sim::Policy::none},
                                                   {"queue", sim::Policy::queue}};
const std::map<std::string, Order> kOrders{{"fair", Order::fair}, {"fifo", Order::fifo}};
constexpr int kMostOfAnything = 1'000'000;

// One subcommand's options write into its own struct; whichever subcommand was named is picked.
struct Draft {
  ConfigOptions config;
  std::vector<std::string> settings;
  std::vector<std::string> roles;
  std::string state;
  ServeCommand serve;
  MigrateCommand migrate;
  SubmitCommand submit;
  StatusCommand status;
  ListCommand list;
  ShowCommand show;
  LogsCommand logs;
  CheckCommand check;
  SimulateCommand simulate;
  DoctorCommand doctor;
  OperateDraft operate;
};

void add_config_options(CLI::App& command, Draft& draft) {
  command
      .add_option("--config", draft.config.file,
                  "Configuration file (default: coderunner.toml where it exists)")
      ->type_name("FILE");
  command
      .add_option("--set", draft.settings, "Override one setting, as in --set queue.concurrency=8")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void add_server_options(CLI::App& command, ServerOptions& server, Draft& draft) {
  command
      .add_option("--url", server.url,
                  "The server, http://HOST:PORT or unix:PATH (default: CODERUNNER_URL, client.url, "
                  "http.listen)")
      ->type_name("URL");
  command
      .add_option("--token-file", server.token_file,
                  "File with the token (default: CODERUNNER_TOKEN, client.token_file)")
      ->type_name("FILE");
  command.add_flag("--json", server.json, "Print the server's JSON unchanged");
  add_config_options(command, draft);
}

template <class Id>
void add_id(CLI::App& command, Id& id) {
  command.add_option("ID", id.value, "The execution's number")->required()->check(not_an_id);
}

void add_serve(CLI::App& app, Draft& draft) {
  CLI::App* command = app.add_subcommand("serve", "Run the queue until SIGTERM");
  command
      ->add_option("--roles", draft.roles,
                   "What this process does, of api,drainer,executor (default: all)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("ROLE,...")
      ->check(CLI::IsMember({"api", "drainer", "executor"}));
  command->add_flag("--wait-lock", draft.serve.wait_lock,
                    "Wait for another drainer of this store to end, instead of exiting 3");
  add_config_options(*command, draft);
}

void add_migrate(CLI::App& app, Draft& draft) {
  CLI::App* command = app.add_subcommand("migrate", "Bring the store to this version's schema");
  command->add_flag("--dry-run", draft.migrate.dry_run, "Say what would be done, change nothing");
  command->add_flag("--json", draft.migrate.json, "Print JSON");
  add_config_options(*command, draft);
}

void add_submit(CLI::App& app, Draft& draft) {
  SubmitCommand& submit = draft.submit;
  CLI::App* command = app.add_subcommand("submit", "Admit an execution of a script");
  command->add_option("--account", submit.account, "The account it runs for")
      ->required()
      ->type_name("ACCOUNT");
  command
      ->add_option("--key-file", submit.key_file,
                   "File with the account's API key; one newline at its end is not part of it")
      ->required()
      ->type_name("FILE");
  command->add_option("--identifier", submit.identifier, "Your own name for it")->type_name("TEXT");
  command->add_option("--payload", submit.payload_file, "File with the event, a JSON value")
      ->type_name("FILE");
  command->add_flag("--debug", submit.debug, "Keep the API's answers in its log");
  command->add_flag("--wait", submit.wait, "Follow it to the end; exit 1 if it failed");
  command->add_option("SCRIPT", submit.script, "The Lua script")->required();
  add_server_options(*command, submit.server, draft);
}

void add_list(CLI::App& app, Draft& draft) {
  ListCommand& list = draft.list;
  CLI::App* command = app.add_subcommand("list", "List executions, newest first");
  command->add_option("--account", list.account, "Of this account only")->type_name("ACCOUNT");
  command
      ->add_option("--state", draft.state,
                   "In this state only: queued, running, succeeded, failed, invalid, rejected, "
                   "cancelled, never_dispatched, killed")
      ->type_name("STATE")
      ->check([](const std::string& word) {
        return state_from_text(word) ? std::string{} : "there is no state " + word;
      });
  command
      ->add_option_function<std::int64_t>(
          "--before", [&list](std::int64_t id) { list.before = ExecutionId{id}; },
          "Those older than this execution: the next page")
      ->type_name("ID")
      ->check(not_an_id);
  command
      ->add_option("--limit", list.limit, fmt::format("At most so many (default: {})", list.limit))
      ->type_name("N")
      ->check(CLI::Range(1, limits::kMaxListed));
  add_server_options(*command, list.server, draft);
}

void add_reading_commands(CLI::App& app, Draft& draft) {
  CLI::App* status = app.add_subcommand("status", "Depth, ages, in flight, gated keys, drainer");
  add_server_options(*status, draft.status.server, draft);
  add_list(app, draft);
  CLI::App* show = app.add_subcommand("show", "One execution with its timeline");
  add_id(*show, draft.show.id);
  add_server_options(*show, draft.show.server, draft);
  CLI::App* logs = app.add_subcommand("logs", "The log lines of one execution");
  add_id(*logs, draft.logs.id);
  logs->add_flag("--follow", draft.logs.follow, "Keep printing until the execution has ended");
  add_server_options(*logs, draft.logs.server, draft);
}

void add_check(CLI::App& app, Draft& draft) {
  CLI::App* command = app.add_subcommand("check", "Check a script's syntax without running it");
  command->add_option("SCRIPT", draft.check.script, "The Lua script")->required();
  command->add_flag("--json", draft.check.json, "Print JSON");
}

void add_doctor(CLI::App& app, Draft& draft) {
  CLI::App* command =
      app.add_subcommand("doctor", "Check what a start needs, and say what to do where it is not");
  command->add_flag("--json", draft.doctor.json, "Print JSON");
  add_config_options(*command, draft);
}

void add_simulate(CLI::App& app, Draft& draft) {
  SimulateCommand& simulate = draft.simulate;
  sim::ReplayOptions& is = simulate.options;
  CLI::App* command = app.add_subcommand(
      "simulate", "Replay an arrival trace on virtual time and say what became of it");
  command
      ->add_option("--trace", simulate.trace, "CSV: offset_ms,account,key,api_calls,call_ms,cpu_ms")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--policy", is.policy,
                   "queue: this queue; none: a pool of workers, first come first served")
      ->transform(CLI::CheckedTransformer(kPolicies))
      ->type_name("none|queue");
  const auto number = [&](const char* name, int& value, const char* what, int least = 1) {
    command->add_option(name, value, fmt::format("{} (default: {})", what, value))
        ->type_name("N")
        ->check(CLI::Range(least, kMostOfAnything));
  };
  number("--workers", is.workers, "Workers of the pool, with --policy none");
  number("--concurrency", is.plan.concurrency, "Executions in flight");
  number("--per-account", is.plan.per_account, "In flight of one account");
  number("--attempts", is.max_attempts, "Attempts of one API call");
  number("--quota-per-minute", is.quota.per_minute, "Calls of one key in a minute, 0: no limit", 0);
  number("--quota-per-hour", is.quota.per_hour, "Calls of one key in an hour, 0: no limit", 0);
  command->add_option("--order", is.plan.order, "Which account is next (default: fair)")
      ->transform(CLI::CheckedTransformer(kOrders))
      ->type_name("fair|fifo");
  command
      ->add_option_function<std::string>(
          "--wall", [&is](const std::string& text) { is.wall = *parse_duration(text); },
          fmt::format("What one run may last (default: {})", format_duration(is.wall)))
      ->type_name("DURATION")
      ->check([](const std::string& text) {
        const auto wall = parse_duration(text);
        return wall && *wall > Millis{0} ? std::string{} : "write a duration like 300s";
      });
  command->add_option("--seed", is.seed,
                      "The same seed and trace give the same result (default: 0)");
  command->add_flag("--json", simulate.json, "Print JSON");
}

Command pick(const CLI::App& app, Draft& draft) {
  const std::string name = app.get_subcommands().front()->get_name();
  if (name == "serve") return std::move(draft.serve);
  if (name == "migrate") return draft.migrate;
  if (name == "submit") return std::move(draft.submit);
  if (name == "status") return std::move(draft.status);
  if (name == "list") return std::move(draft.list);
  if (name == "show") return std::move(draft.show);
  if (name == "logs") return std::move(draft.logs);
  if (name == "doctor") return draft.doctor;
  if (name == "simulate") return std::move(draft.simulate);
  if (const auto operating = pick_operating(app, draft.operate)) return *operating;
  return std::move(draft.check);
}

// What CLI11 cannot say in types.
void finish(Draft& draft) {
  for (const std::string& setting : draft.settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0)
      throw CLI::ValidationError("--set", "write KEY=VALUE, not " + setting);
    draft.config.settings.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
  }
  draft.list.state = state_from_text(draft.state);
  if (draft.roles.empty()) return;
  draft.serve.roles.clear();
  for (const auto& [name, role] : kRoles)
    if (std::find(draft.roles.begin(), draft.roles.end(), name) != draft.roles.end())
      draft.serve.roles.insert(role);
}

bool is_no_command(const CLI::App& app, const std::string& word) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  return !word.starts_with('-') &&
         std::none_of(commands.begin(), commands.end(),
                      [&](const CLI::App* command) { return command->get_name() == word; });
}

}  // namespace

std::variant<CommandLine, NothingToRun> parse_command_line(const std::vector<std::string>& words) {
  Draft draft;
  CLI::App app{"CodeRunner: a durable queue that runs scripts against rate-limited APIs",
               "coderunner"};
  app.set_version_flag("--version", "coderunner " CODERUNNER_VERSION);
  app.require_subcommand(1);
  add_serve(app, draft);
  add_migrate(app, draft);
  add_submit(app, draft);
  add_reading_commands(app, draft);
  add_operating_commands(app, draft.operate, [&draft](CLI::App& command, ServerOptions& server) {
    add_server_options(command, server, draft);
  });
  add_check(app, draft);
  add_simulate(app, draft);
  add_doctor(app, draft);
  try {
    std::vector<std::string> reversed{words.rbegin(), words.rend()};  // as CLI11 takes them
    app.parse(std::move(reversed));
    finish(draft);
    return CommandLine{std::move(draft.config), pick(app, draft)};
  } catch (const CLI::ParseError& error) {
    std::ostringstream output, errors;
    const bool asked = app.exit(error, output, errors) == 0;
    if (!asked && !words.empty() && is_no_command(app, words.front()))
      return NothingToRun{kBadUsage, "",
                          "coderunner: there is no command '" + escape_controls(words.front()) +
                              "'; coderunner --help lists them\n"};
    return NothingToRun{asked ? 0 : kBadUsage, output.str(), errors.str()};
  }
}

}  // namespace coderunner::app
