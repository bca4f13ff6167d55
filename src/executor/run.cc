#include "executor/run.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "executor/conversation.h"
#include "executor/curl_api_client.h"
#include "executor/row_finish.h"
#include "executor/run_outcome.h"

namespace coderunner::executor {
namespace {

constexpr int kUnavailable = 503;
constexpr int kForbidden = 403;

std::optional<JobId> job_number(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  std::int64_t number = 0;
  const char* end = text->data() + text->size();
  const auto [stopped, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc{} || stopped != end || number <= 0) return std::nullopt;
  return JobId{number};
}

RunAnswer invalid_nonce() {
  return refusal(kForbidden, number(ErrorCode::nonce_invalid),
                 "the job is unknown, or its nonce is wrong, spent, revoked or too old");
}

RunAnswer no_room(const std::string& why) { return refusal(kUnavailable, kUnavailable, why); }

std::unique_ptr<ApiClient> api_for(const Begun& begun, const ApiSettings& api,
                                   const WorkerParts& worker) {
  auto address = base_address(api.base_url, begun.account);
  if (!address) return std::make_unique<UnusableApi>(address.error().message);
  if (!begun.sealed_key) return std::make_unique<UnusableApi>("the execution has no API key");
  auto key = worker.secrets.open(*begun.sealed_key);
  if (!key)
    return std::make_unique<UnusableApi>(
        "the API key can not be opened: was it sealed with another secrets.key_file?");
  return std::make_unique<CurlApiClient>(CurlApiOptions{*address, *key}, worker.clock);
}

}  // namespace

RunAnswer refusal(int http_status, int code, const std::string& message) {
  const nlohmann::json body{{"error", {{"code", code}, {"message", message}}}};
  return {http_status, body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

void Run::enter(Stage stage) {
  parts_.slot.board.enter(parts_.slot.number, stage, parts_.worker.clock.mono_now());
}

RunAnswer Run::answer(const RunRequest& request) {
  if (!request.nonce || request.nonce->empty())
    return refusal(kForbidden, number(ErrorCode::nonce_missing), "asyncNonce is missing");
  const auto job = job_number(request.job_id);
  if (!job) return invalid_nonce();
  parts_.master.read();
  if (parts_.master.must_stop()) return no_room("the executor is stopping");

  // First, because a begin can not be taken back: a row that began without a process would be lost.
  // Crash window spawned-not-begun: the script dies with its worker, the row is queued; the drainer
  // sees the connection end and revokes.
  enter(Stage::spawning);
  auto script = ScriptLink::request(parts_.master, parts_.settings.script, parts_.worker.clock);
  if (!script) return no_room(script.error().message);
  return begin_and_drive(*job, Nonce{*request.nonce}, std::move(*script));
}

RunAnswer Run::begin_and_drive(JobId job, const Nonce& nonce, ScriptLink script) {
  const WorkerParts& worker = parts_.worker;
  const WorkerSlot& slot = parts_.slot;
  const RunId run{random_hex_128(worker.entropy)};
  const MonoTime wall = worker.clock.mono_now() + parts_.settings.wall;
  enter(Stage::beginning);
  slot.board.note_run(slot.number, run);

  Begin begin{job, worker.secrets.nonce_hash(nonce), run, worker.self, worker.clock.utc_now()};
  begin.before_commit = [&slot](ExecutionId execution) {
    slot.board.note_execution(slot.number, execution);
  };
  auto begun = worker.ledger.begin(begin);
  // Crash window begun-not-run: the scoreboard names the row, and the next worker ends it 303 if it
  // has begun; with the master gone too, whoever proves this process dead does.
  if (!begun && begun.error().kind == Failure::unknown_outcome)
    return begin_of_unknown_outcome(run, begun.error().message);
  if (!begun || std::holds_alternative<BeginRefused>(*begun)) {
    slot.board.forget_run(slot.number);
    return begun ? invalid_nonce() : no_room("not begun: " + begun.error().message);
  }
  const Begun& row = std::get<Begun>(*begun);
  slot.board.note_execution(slot.number, row.execution);
  enter(Stage::running);
  // What a restored store asks the log for: which rows have begun since its backup.
  worker.events.record({Level::info, "run_begun", row.execution, {}});
  RunLog log{worker.ledger, worker.clock, {row.execution, run}};
  const Outcome outcome = drive(row, std::move(script), log, wall);
  return finish(row, run, outcome, log);
}

// Not even re-reading the row told whether it is ours. Nothing may run then; if it is ours it must
// not stay running under a process that lives on.
RunAnswer Run::begin_of_unknown_outcome(const RunId& run, const std::string& error) {
  const auto execution = parts_.slot.board.read(parts_.slot.number).execution;
  if (execution) {
    const WorkerParts& worker = parts_.worker;
    finish_row(
        {*execution,
         run,
         {ErrorCode::ended_from_outside, "nothing ran: whether it had begun could not be told"}},
        {worker.ledger, parts_.master, worker.clock, worker.events, parts_.slot});
  }
  parts_.slot.board.forget_run(parts_.slot.number);
  return no_room("begun or not, nothing ran: " + error);
}

// Takes the script: it is gone when this returns, however long the row's finish takes.
Outcome Run::drive(const Begun& begun, ScriptLink script, RunLog& log, MonoTime wall) {
  const WorkerParts& worker = parts_.worker;
  const RunSettings& settings = parts_.settings;
  const auto api = api_for(begun, settings.api, worker);
  RunSockets watch{{parts_.master, script, worker.clock, wall}};
  Broker broker{{*api, worker.gates, log, watch, worker.clock, worker.events},
                {begun.execution, begun.key, begun.debug, settings.api.timeout, settings.ladder}};
  Conversation conversation{{script, watch, broker, log, worker.clock, settings.wall}};
  return conversation.hold({begun.execution, begun.source, begun.payload, begun.identifier});
}

RunAnswer Run::finish(const Begun& begun, const RunId& run, const Outcome& outcome, RunLog& log) {
  const WorkerParts& worker = parts_.worker;
  // Crash window ended-unfinished: the script's end is known to this process alone; the row ends
  // 303 and lists what the run had sent.
  const bool kept =
      finish_row({begun.execution, run, outcome, &log},
                 {worker.ledger, parts_.master, worker.clock, worker.events, parts_.slot});
  // Crash window finished-unanswered: the row has its end; the drainer reads it there, and another
  // finish of the same run changes nothing.
  if (kept) parts_.slot.board.forget_run(parts_.slot.number);
  worker.events.record({Level::info,
                        "run_ended",
                        begun.execution,
                        {{"status", std::string{to_text(outcome.status())}},
                         {"code", outcome.code ? std::to_string(number(*outcome.code)) : "none"}}});
  nlohmann::json body{{"execution_id", begun.execution.value},
                      {"status", to_text(outcome.status())},
                      {"error_code", nullptr}};
  if (outcome.code) body["error_code"] = number(*outcome.code);
  return {200, body.dump()};
}

}  // namespace coderunner::executor
