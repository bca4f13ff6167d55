#include "app/command_line_operate.h"

#include <algorithm>
#include <charconv>

#include "base/time.h"

namespace coderunner::app {
namespace {

constexpr std::size_t kKeyHashDigits = 64;

std::string not_a_key_hash(const std::string& word) {
  const bool is_one =
      word.size() == kKeyHashDigits && std::all_of(word.begin(), word.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
      });
  return is_one ? std::string{} : "a key's hash is 64 lower-case hex digits, as in `gate list`";
}

std::optional<int> cap_of(const std::string& word) {
  int cap = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), cap);
  const bool whole = error == std::errc{} && end == word.data() + word.size();
  return whole && cap >= 1 && cap <= limits::kMaxConcurrency ? std::optional{cap} : std::nullopt;
}

void add_account(CLI::App& command, std::optional<std::string>& account, const char* what) {
  command.add_option("--account", account, what)->type_name("ACCOUNT");
}

void add_key(CLI::App& command, ApiKeyHash& key) {
  command.add_option("KEYHASH", key.value, "The key's hash, as in `gate list`")
      ->required()
      ->check(not_a_key_hash);
}

void add_cancel(CLI::App& app, OperateDraft& draft, const AddServerOptions& add_server) {
  CancelCommand& cancel = draft.cancel;
  CLI::App* command = app.add_subcommand(
      "cancel", "Cancel a queued execution, or all that are queued of an account");
  command
      ->add_option_function<std::int64_t>(
          "ID", [&cancel](std::int64_t id) { cancel.id = ExecutionId{id}; },
          "The execution's number")
      ->check(not_an_id);
  add_account(*command, cancel.account, "Of this account, together with --state queued");
  command->add_option("--state", draft.cancel_state, "Those in this state; only queued ones can be")
      ->check(CLI::IsMember({"queued"}));
  command->add_flag("--dry-run", cancel.dry_run, "Say how many it would be, change nothing");
  add_server(*command, cancel.server);
}

void add_pauses(CLI::App& app, OperateDraft& draft, const AddServerOptions& add_server) {
  CLI::App* pause =
      app.add_subcommand("pause", "Start nothing new; what runs goes on, what is queued stays");
  add_account(*pause, draft.pause.account, "Of this account only");
  add_server(*pause, draft.pause.server);
  CLI::App* resume = app.add_subcommand("resume", "Lift a pause");
  add_account(*resume, draft.resume.account, "That of this account");
  add_server(*resume, draft.resume.server);
}

void add_account_commands(CLI::App& app, OperateDraft& draft, const AddServerOptions& add_server) {
  CLI::App* account = app.add_subcommand("account", "What holds for one account");
  account->require_subcommand(1);
  CLI::App* show = account->add_subcommand("show", "Its cap, its rows, whether it is paused");
  show->add_option("ACCOUNT", draft.account_show.account, "The account")->required();
  add_server(*show, draft.account_show.server);
  AccountSetCommand& changed = draft.account_set;
  CLI::App* set = account->add_subcommand("set", "Give it a cap of its own");
  set->add_option("ACCOUNT", changed.account, "The account")->required();
  set->add_option_function<std::string>(
         "--per-account",
         [&changed](const std::string& word) { changed.per_account = cap_of(word); },
         "In flight at a time, instead of queue.per_account; default: that again")
      ->required()
      ->type_name("N|default")
      ->check([](const std::string& word) {
        return word == "default" || cap_of(word)
                   ? std::string{}
                   : "write a number from 1 to " + std::to_string(limits::kMaxConcurrency) +
                         ", or default";
      });
  add_server(*set, changed.server);
}

void add_gate_commands(CLI::App& app, OperateDraft& draft, const AddServerOptions& add_server) {
  CLI::App* gate = app.add_subcommand("gate", "The rate gates: keys that start no work for now");
  gate->require_subcommand(1);
  CLI::App* list = gate->add_subcommand("list", "The keys that are gated now");
  add_server(*list, draft.gate_list.server);
  GateSetCommand& closed = draft.gate_set;
  CLI::App* set = gate->add_subcommand("set", "Gate a key; one gated for longer stays as it is");
  add_key(*set, closed.key);
  set->add_option_function<std::string>(
         "--for", [&closed](const std::string& word) { closed.length = *parse_duration(word); },
         "How long from now, at most gate.max")
      ->required()
      ->type_name("DURATION")
      ->check([](const std::string& word) {
        const auto length = parse_duration(word);
        return length && *length > Millis{0} ? std::string{} : "write a duration like 30m";
      });
  add_server(*set, closed.server);
  CLI::App* clear = gate->add_subcommand("clear", "Open a key's gate at once");
  add_key(*clear, draft.gate_clear.key);
  add_server(*clear, draft.gate_clear.server);
}

// What CLI11 cannot say in types.
void check_cancel(const OperateDraft& draft) {
  const CancelCommand& cancel = draft.cancel;
  const bool of_account = cancel.account && draft.cancel_state == "queued";
  const bool half_of_account = cancel.account || !draft.cancel_state.empty() || cancel.dry_run;
  if (cancel.id ? half_of_account : !of_account)
    throw CLI::ValidationError(
        "cancel",
        "name one execution (without --dry-run), or --account A --state queued "
        "[--dry-run]");
}

}  // namespace

std::string not_an_id(const std::string& word) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
  if (error == std::errc{} && end == word.data() + word.size() && id > 0) return {};
  return word + " is no execution's number: write it like 42";
}

void add_operating_commands(CLI::App& app, OperateDraft& draft,
                            const AddServerOptions& add_server) {
  add_cancel(app, draft, add_server);
  add_pauses(app, draft, add_server);
  add_account_commands(app, draft, add_server);
  add_gate_commands(app, draft, add_server);
}

std::optional<Command> pick_operating(const CLI::App& app, const OperateDraft& draft) {
  const CLI::App* command = app.get_subcommands().front();
  const std::string name = command->get_name();
  if (name == "cancel") {
    check_cancel(draft);
    return draft.cancel;
  }
  if (name == "pause") return draft.pause;
  if (name == "resume") return draft.resume;
  if (name != "account" && name != "gate") return std::nullopt;
  const std::string verb = command->get_subcommands().front()->get_name();
  if (name == "account") return verb == "set" ? Command{draft.account_set} : draft.account_show;
  if (verb == "list") return draft.gate_list;
  return verb == "set" ? Command{draft.gate_set} : draft.gate_clear;
}

}  // namespace coderunner::app
