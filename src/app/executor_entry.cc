#include "app/executor_entry.h"

#include <memory>
#include <string>
#include <utility>

#include "adapters/http_server/http_server.h"
#include "adapters/log/log_events.h"
#include "adapters/secrets/secret_files.h"
#include "adapters/sql/sql_store.h"
#include "adapters/system/pause.h"
#include "adapters/system/process_identity.h"
#include "adapters/system/signals.h"
#include "adapters/system/system_clock.h"
#include "adapters/system/system_entropy.h"
#include "app/composition.h"
#include "app/config.h"
#include "domain/limits.h"
#include "executor/master.h"
#include "executor/run.h"
#include "executor/test_worker.h"
#include "executor/worker.h"
#include "executor/zygote.h"

namespace coderunner::app {
namespace {

constexpr std::size_t kMaxRunRequest = 4096;  // two short form fields
constexpr int kNotFound = 404;

Result<Settings> own_settings(executor::Role role) {
  auto text = executor::inherited_settings(role);
  if (!text) return text.error();
  return parse_settings(*text, "the inherited settings");
}

int failed(Events& events, std::string_view what, const Error& error) {
  events.record({Level::error,
                 "executor_start_failed",
                 {},
                 {{"part", std::string{what}}, {"error", error.message}}});
  return 1;
}

HttpResponse json_answer(executor::RunAnswer answer) {
  return {.status = answer.http_status,
          .headers = {{"Content-Type", "application/json"}},
          .body = std::move(answer.body)};
}

HttpResponse handle_run(const HttpRequest& request, const executor::RunHandler& handler) {
  if (request.path != "/codeRunner/runAsync" || request.method != "POST")
    return json_answer(
        executor::refusal(kNotFound, kNotFound, "POST /codeRunner/runAsync is all there is"));
  const auto fields = parse_form(request.body);
  executor::RunRequest run;
  for (const auto& [name, value] :
       fields.value_or(std::vector<std::pair<std::string, std::string>>{})) {
    if (name == "jobId") run.job_id = value;
    if (name == "asyncNonce") run.nonce = value;
  }
  return json_answer(handler(run));
}

int run_master_role() {
  const SystemClock clock;
  const auto settings = own_settings(executor::Role::master);
  LogEvents events{
      {.format = settings ? settings->log.format : LogFormat::logfmt, .role = "executor-master"},
      clock};
  if (!settings) return failed(events, "settings", settings.error());
  return executor::run_master(pool_settings(*settings), {clock, events});
}

int run_worker_role() {
  const SystemClock clock;
  SystemEntropy entropy;
  const auto settings = own_settings(executor::Role::worker);
  LogEvents events{
      {.format = settings ? settings->log.format : LogFormat::logfmt, .role = "executor-worker"},
      clock};
  if (!settings) return failed(events, "settings", settings.error());
  const auto secrets = load_secrets(
      {.salt_file = settings->secrets.salt_file, .key_file = settings->secrets.key_file}, entropy);
  if (!secrets) return failed(events, "secrets", secrets.error());
  const auto identity = own_identity();
  if (!identity) return failed(events, "process identity", identity.error());
  auto store = sql::open_store({.url = settings->store.url,
                                .pause = pause,
                                .gate = gate_policy(*settings),
                                .writer = sql::Writer::caller},
                               clock, entropy, events);
  if (!store) return failed(events, "store", store.error());

  const OneRequestLimits request_limits{.max_body = kMaxRunRequest,
                                        .request_timeout = limits::kRunRequestTimeout};
  const auto serve_one = [&](int socket, const executor::RunHandler& handler) {
    // A request cut short is the drainer's to notice: nothing began that its row does not say.
    (void)answer_one_request(socket, request_limits, [&](const HttpRequest& request) {
      return handle_run(request, handler);
    });
  };
  return executor::run_worker(run_settings(*settings), {.ledger = (*store)->ledger(),
                                                        .gates = (*store)->gates(),
                                                        .secrets = *secrets->secrets,
                                                        .clock = clock,
                                                        .entropy = entropy,
                                                        .events = events,
                                                        .self = to_executor_id(*identity),
                                                        .serve_one = serve_one});
}

// Stands in while the store can not be opened.
class GatesAway final : public GateStore {
 public:
  Result<Gate> close(const Gate&, UtcTime) override { return away(); }
  Result<std::vector<Gate>> closed(UtcTime) override { return away(); }
  Result<std::optional<Gate>> closed(const ApiKeyHash&, UtcTime) override { return away(); }
  Result<std::optional<Gate>> last(const ApiKeyHash&) override { return away(); }
  Result<Done> clear(const ApiKeyHash&) override { return away(); }

 private:
  static Error away() { return fail(Failure::unavailable, "the store can not be opened"); }
};

int run_test_worker_role() {
  const SystemClock clock;
  SystemEntropy entropy;
  const auto settings = own_settings(executor::Role::test_worker);
  LogEvents events{{.format = settings ? settings->log.format : LogFormat::logfmt,
                    .role = "executor-test-worker"},
                   clock};
  if (!settings) return failed(events, "settings", settings.error());
  GatesAway away;
  std::unique_ptr<sql::SqlStore> store;
  const auto gates = [&]() -> GateStore& {
    if (store) return store->gates();
    auto opened = sql::open_store({.url = settings->store.url,
                                   .pause = pause,
                                   .gate = gate_policy(*settings),
                                   .writer = sql::Writer::caller},
                                  clock, entropy, events);
    if (!opened) return away;  // each read and write of a gate tells of it
    store = *std::move(opened);
    return store->gates();
  };
  return executor::run_test_worker(
      test_run_settings(*settings),
      {.gates = gates, .clock = clock, .entropy = entropy, .events = events});
}

}  // namespace

int run_executor_role(executor::Role role) {
  switch (role) {
    case executor::Role::master: ignore_broken_pipes(); return run_master_role();
    case executor::Role::worker: ignore_broken_pipes(); return run_worker_role();
    case executor::Role::test_worker: ignore_broken_pipes(); return run_test_worker_role();
    case executor::Role::zygote: return executor::run_zygote(SystemClock{});
  }
  return 1;
}

}  // namespace coderunner::app
