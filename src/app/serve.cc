#include "app/serve.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "adapters/http_server/http_server.h"
#include "adapters/http_server/listen_socket.h"
#include "adapters/http_transport/http_transport.h"
#include "adapters/log/log_events.h"
#include "adapters/secrets/secret_files.h"
#include "adapters/sql/sql_store.h"
#include "adapters/system/lock_file.h"
#include "adapters/system/pause.h"
#include "adapters/system/process_identity.h"
#include "adapters/system/signals.h"
#include "adapters/system/system_clock.h"
#include "adapters/system/system_entropy.h"
#include "app/composition.h"
#include "app/config.h"
#include "app/drainer_loop.h"
#include "app/readiness.h"
#include "app/reaper_loop.h"
#include "app/routes.h"
#include "app/script_routes.h"
#include "app/work_pool.h"
#include "executor/launcher.h"
#include "executor/lua_check.h"
#include "services/admission.h"
#include "services/control.h"
#include "services/drainer.h"
#include "services/observatory.h"
#include "services/reaper.h"

namespace coderunner::app {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitBadConfiguration = 2;
constexpr int kExitLocked = 3;

constexpr Millis kLockRetry{200};
constexpr Millis kLockCheck{1000};
constexpr Millis kStoreRetry{1000};
constexpr Millis kStopStep{50};

int exit_status(const Error& error) {
  if (error.kind == Failure::conflict) return kExitLocked;
  return error.kind == Failure::invalid_input || error.kind == Failure::corrupt
             ? kExitBadConfiguration
             : kExitFailed;
}

// Everything that stands on the store: made once it could be opened, gone before it is closed.
struct Serving {
  std::unique_ptr<sql::SqlStore> store;
  std::unique_ptr<HttpTransport> transport;
  std::unique_ptr<Drainer> drainer;
  std::unique_ptr<DrainerLoop> loop;
  std::unique_ptr<Reaper> reaper;
  std::unique_ptr<ReaperLoop> reaper_loop;
  std::unique_ptr<Admission> admission;
  std::unique_ptr<Observatory> observatory;
  std::unique_ptr<Control> control;
  std::unique_ptr<OperatorRoutes> operators;
  std::unique_ptr<Readiness> readiness;
  std::unique_ptr<Routes> routes;
};

class Daemon {
 public:
  Daemon(const ServeArguments& arguments, StopSignals signals)
      : arguments_(arguments),
        settings_(arguments.settings),
        signals_(std::move(signals)),
        events_({.format = settings_.log.format, .level = settings_.log.level, .role = "serve"},
                clock_),
        pool_(limits::kWorkThreads, limits::kMaxWaitingWork) {}

  int run();

 private:
  bool has(Role role) const { return arguments_.roles.contains(role); }
  bool builtin_executor() const {
    return has(Role::executor) && settings_.executor.mode == ExecutorMode::builtin;
  }

  Result<Done> take_lock();
  Result<Done> keep_lock();
  Result<Done> take_secrets();
  Result<bool> store_is_new();
  Result<Done> start_executor();
  Result<Done> start_http();
  Result<Done> open_store();
  void say_store_is_away(const Error& error);
  void start_drainer();
  void start_reaper();
  void make_script_routes();
  void make_routes();
  void make_operators(const std::function<void()>& wake);
  void make_readiness();
  void announce();
  Result<Done> run_until_stopped();
  void stop();
  void handle(HttpRequest request, HttpRespond respond);
  HttpTransportOptions executor_address() const;
  int fail(std::string_view what, const Error& error);

  const ServeArguments& arguments_;
  const Settings& settings_;
  StopSignals signals_;
  SystemClock clock_;
  SystemEntropy entropy_;
  LogEvents events_;
  executor::LuaCheck script_check_{clock_};
  std::optional<LockFile> lock_;
  std::unique_ptr<SodiumSecrets> secrets_;
  std::unique_ptr<SystemProcessProbe> probe_;
  std::optional<ListenSocket> executor_socket_;
  std::unique_ptr<executor::Launcher> launcher_;
  std::unique_ptr<ScriptRoutes> script_routes_;
  WorkPool pool_;
  Serving serving_;
  std::atomic<Routes*> routes_ = nullptr;                       // set once the store is open
  std::atomic<std::shared_ptr<const std::string>> store_away_;  // why it is not yet
  std::atomic<bool> stopping_ = false;
  bool told_to_stop_ = false;  // before there was anything to stop
  std::unique_ptr<HttpServer> http_;
};

// The order of the architecture's section 4; stop() runs it backwards.
int Daemon::run() {
  if (auto done = take_lock(); !done) {
    if (told_to_stop_) return 0;  // while it waited for its turn
    // A folder that is away takes the store with it: both are waited for.
    if (done.error().kind != Failure::unavailable) return fail("lock", done.error());
  }
  if (auto done = take_secrets(); !done) return fail("secrets", done.error());
  const auto identity = own_identity();
  if (!identity) return fail("process identity", identity.error());
  probe_ = std::make_unique<SystemProcessProbe>(*identity);

  if (auto done = start_executor(); !done) return fail("executor", done.error());
  make_script_routes();
  const auto opened = open_store();
  if (!opened && opened.error().kind != Failure::unavailable) return fail("store", opened.error());
  if (!opened) say_store_is_away(opened.error());
  if (auto done = start_http(); !done) return fail("http", done.error());
  announce();
  const auto ended = run_until_stopped();
  stop();
  if (ended) return 0;
  const bool lost_lock = ended.error().kind == Failure::conflict;
  const int status = fail(lost_lock ? "lock" : "store", ended.error());
  return lost_lock ? kExitLocked : status;
}

int Daemon::fail(std::string_view what, const Error& error) {
  events_.record(
      {Level::error, "serve_failed", {}, {{"part", std::string{what}}, {"error", error.message}}});
  return exit_status(error);
}

// Held by this process alone (rulings 26): the executor is exec'ed and the descriptor closes there,
// so that a killed daemon can be started again while its last runs end.
Result<Done> Daemon::take_lock() {
  if (!has(Role::drainer) || lock_) return Done{};
  LockOptions options{.path = lock_path(settings_), .keep_waiting = {}};
  if (arguments_.wait_lock) {
    options.keep_waiting = [this] {
      told_to_stop_ = signals_.wait(kLockRetry);
      return !told_to_stop_;
    };
    events_.record({Level::info, "waiting_for_lock", {}, {{"path", options.path}}});
  }
  auto lock = LockFile::acquire(options);
  if (!lock) return lock.error();
  lock_.emplace(*std::move(lock));
  return Done{};
}

// A lock file that was deleted locks nobody out any more. Where nobody has come meanwhile it is
// made anew; where somebody has, two drainers must not go on.
Result<Done> Daemon::keep_lock() {
  const std::string path = lock_path(settings_);
  if (!lock_ || lock_->is_named(path)) return Done{};
  std::error_code failed;
  const auto folder = std::filesystem::path{path}.parent_path();
  if (!folder.empty() && !std::filesystem::exists(folder, failed)) return Done{};  // all is away
  auto again = LockFile::acquire({.path = path, .keep_waiting = {}});
  if (!again && again.error().kind == Failure::conflict) return again.error();
  if (!again) return Done{};
  lock_.emplace(*std::move(again));
  events_.record({Level::warn, "lock_made_again", {}, {{"path", path}}});
  return Done{};
}

// Made on a first start only: new secrets beside old rows would make every stored hash and every
// sealed key useless.
Result<Done> Daemon::take_secrets() {
  SecretFiles files{.salt_file = settings_.secrets.salt_file,
                    .key_file = settings_.secrets.key_file};
  auto loaded = load_secrets(files, entropy_);
  if (!loaded) {
    const auto is_new = store_is_new();
    if (!is_new) return is_new.error();
    files.create = *is_new;
    loaded = load_secrets(files, entropy_);
  }
  if (!loaded) return loaded.error();
  for (const std::string& warning : loaded->warnings)
    events_.record({Level::warn, "secret_file", {}, {{"warning", warning}}});
  for (const std::string& path : loaded->made)
    events_.record({Level::info, "secret_made", {}, {{"path", path}}});
  secrets_ = std::move(loaded->secrets);
  return Done{};
}

Result<bool> Daemon::store_is_new() {
  const auto schema = sql::migrate(
      {.url = settings_.store.url, .dry_run = true, .pause = pause, .wait = {}}, clock_, entropy_);
  if (!schema) return schema.error();
  if (schema->from == 0) return true;  // no file, or an empty one
  auto store =
      sql::open_store({.url = settings_.store.url, .pause = pause}, clock_, entropy_, events_);
  if (!store) return false;
  const auto rows = (*store)->view().executions({.limit = 1});
  return rows && rows->empty();
}

Result<Done> Daemon::start_executor() {
  if (!builtin_executor()) return Done{};
  const std::string listen =
      settings_.executor.listen.empty() ? "127.0.0.1:0" : settings_.executor.listen;
  auto socket = open_listen_socket(listen);
  if (!socket) return socket.error();
  executor_socket_.emplace(*std::move(socket));
  launcher_ = std::make_unique<executor::Launcher>(
      executor::LauncherOptions{.settings = to_toml(settings_),
                                .listener = executor_socket_->descriptor.get(),
                                .max_children = settings_.executor.max_children},
      clock_, events_);
  return launcher_->start();
}

Result<Done> Daemon::open_store() {
  if (auto locked = take_lock(); !locked) return locked;
  auto store = sql::open_store(
      {.url = settings_.store.url, .create = true, .pause = pause, .gate = gate_policy(settings_)},
      clock_, entropy_, events_);
  if (!store) return store.error();
  serving_.store = *std::move(store);
  if (has(Role::drainer)) start_drainer();
  if (has(Role::api)) start_reaper();
  make_routes();
  return Done{};
}

// Once for each new reason, not once a second.
void Daemon::say_store_is_away(const Error& error) {
  const auto said = store_away_.exchange(std::make_shared<const std::string>(error.message));
  if (said && *said == error.message) return;
  events_.record({Level::error, "store_away", {}, {{"error", error.message}}});
}

HttpTransportOptions Daemon::executor_address() const {
  constexpr std::string_view kUnix = "unix:";
  constexpr std::string_view kPath = "/codeRunner/runAsync";
  if (settings_.executor.mode == ExecutorMode::http) return {.url = settings_.executor.url};
  const std::string address =
      executor_socket_ ? executor_socket_->address : settings_.executor.listen;
  if (address.starts_with(kUnix))
    return {.url = fmt::format("http://localhost{}", kPath),
            .unix_socket = address.substr(kUnix.size())};
  return {.url = fmt::format("http://{}{}", address, kPath)};
}

void Daemon::start_drainer() {
  const Millis doubtful = limits::doubtful_after(settings_.executor.wall, settings_.reaper.margin);
  HttpTransportOptions address = executor_address();
  address.timeout = doubtful + limits::kDispatchSlack;
  serving_.transport = std::make_unique<HttpTransport>(std::move(address));
  serving_.drainer = std::make_unique<Drainer>(
      DrainerSettings{.me = {random_hex_128(entropy_)},
                      .limits = {.order = settings_.queue.order,
                                 .concurrency = settings_.queue.concurrency,
                                 .per_account = settings_.queue.per_account},
                      .gate = gate_policy(settings_),
                      .poll_interval = settings_.queue.poll_interval,
                      .doubtful_after = doubtful},
      DrainerParts{.store = serving_.store->dispatch(),
                   .gates = serving_.store->gates(),
                   .transport = *serving_.transport,
                   .probe = *probe_,
                   .secrets = *secrets_,
                   .entropy = entropy_,
                   .clock = clock_,
                   .events = events_});
  serving_.loop = std::make_unique<DrainerLoop>(DrainerLoopParts{
      .drainer = *serving_.drainer,
      .wait = [transport = serving_.transport.get()](Millis most) { transport->wait(most); },
      .wake = [transport = serving_.transport.get()] { transport->wake(); }});
}

// In the api role: it must work where the drainer is dead.
void Daemon::start_reaper() {
  serving_.reaper = std::make_unique<Reaper>(
      ReaperLimits{.running_after = settings_.reaper.running_after,
                   .queued_after = settings_.reaper.queued_after,
                   .purge_after = settings_.reaper.purge_after,
                   .scrub_after = settings_.reaper.scrub_after},
      ReaperParts{
          .store = serving_.store->reaper(), .probe = *probe_, .clock = clock_, .events = events_});
  serving_.reaper_loop = std::make_unique<ReaperLoop>(*serving_.reaper);
}

void Daemon::make_script_routes() {
  ScriptRoutesParts parts{.script_check = script_check_,
                          .secrets = *secrets_,
                          .clock = clock_,
                          .stopping = stopping_,
                          .wall = executor::test_wall(settings_.executor.wall),
                          .open_run = {}};
  if (launcher_) parts.open_run = [this] { return launcher_->open_test_run(); };
  script_routes_ = std::make_unique<ScriptRoutes>(std::move(parts));
}

void Daemon::make_routes() {
  if (!has(Role::api)) return;
  DrainerLoop* loop = serving_.loop.get();
  const auto wake = [loop, wakeup = settings_.queue.wakeup && loop != nullptr] {
    if (wakeup) loop->wake();
  };
  serving_.admission = std::make_unique<Admission>(
      AdmissionParts{.store = serving_.store->admission(),
                     .script_check = script_check_,
                     .secrets = *secrets_,
                     .entropy = entropy_,
                     .clock = clock_,
                     .caps = {settings_.queue.max_queued_per_account, settings_.queue.max_queued}},
      wake);
  serving_.observatory = std::make_unique<Observatory>(
      PlanLimits{.order = settings_.queue.order,
                 .concurrency = settings_.queue.concurrency,
                 .per_account = settings_.queue.per_account},
      gate_policy(settings_),
      ObservatoryParts{.view = serving_.store->view(),
                       .gates = serving_.store->gates(),
                       .clock = clock_,
                       .drainer = loop == nullptr ? std::function<DrainerStatus()>{}
                                                  : [loop] { return loop->status(); }});
  make_operators(wake);
  make_readiness();
  serving_.routes = std::make_unique<Routes>(
      RoutesParts{.admission = *serving_.admission,
                  .observatory = *serving_.observatory,
                  .operators = *serving_.operators,
                  .scripts = *script_routes_,
                  .view = serving_.store->view(),
                  .secrets = *secrets_,
                  .pool = pool_,
                  .stopping = stopping_,
                  .readiness = *serving_.readiness,
                  .executor = [this] {
                    if (!launcher_)
                      return ExecutorFigures{.max_children = settings_.executor.max_children};
                    const executor::PoolFigures figures = launcher_->figures();
                    return ExecutorFigures{figures.children, figures.max_children,
                                           static_cast<std::int64_t>(figures.max_children_reached)};
                  }});
  routes_ = serving_.routes.get();
}

void Daemon::make_operators(const std::function<void()>& wake) {
  serving_.control = std::make_unique<Control>(settings_.gate.max,
                                               ControlParts{.store = serving_.store->control(),
                                                            .gates = serving_.store->gates(),
                                                            .view = serving_.store->view(),
                                                            .secrets = *secrets_,
                                                            .clock = clock_},
                                               wake);
  serving_.operators = std::make_unique<OperatorRoutes>(
      OperatorRoutesParts{.control = *serving_.control, .observatory = *serving_.observatory});
}

void Daemon::make_readiness() {
  ReadinessParts parts{
      .stopping = stopping_,
      .clock = clock_,
      .read_store = [observatory = serving_.observatory.get()]() -> Result<Done> {
        const auto read = observatory->queue();
        return read ? Result<Done>{Done{}} : read.error();
      },
      .write_trouble = [store = serving_.store.get()] { return store->write_trouble(); },
      .last_tick = {}};
  if (DrainerLoop* loop = serving_.loop.get())
    parts.last_tick = [loop] { return loop->status().last_tick; };
  serving_.readiness = std::make_unique<Readiness>(std::move(parts));
}

Result<Done> Daemon::start_http() {
  if (!has(Role::api)) return Done{};
  auto server = start_http_server({.listen = settings_.http.listen,
                                   .max_body = settings_.http.max_body,
                                   .request_timeout = settings_.http.request_timeout},
                                  [this](HttpRequest request, HttpRespond respond) {
                                    handle(std::move(request), std::move(respond));
                                  });
  if (!server) return server.error();
  http_ = *std::move(server);
  return Done{};
}

void Daemon::handle(HttpRequest request, HttpRespond respond) {
  if (Routes* routes = routes_) return routes->handle(std::move(request), std::move(respond));
  const auto why = store_away_.load();
  respond(answer_without_store(request, why ? *why : "it is being opened"));
}

void Daemon::announce() {
  const std::string line = http_              ? "ready http=" + http_->address()
                           : executor_socket_ ? "ready executor=" + executor_socket_->address
                                              : "ready";
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

// Signals, the executor's death and a store that was away are all this thread waits for.
Result<Done> Daemon::run_until_stopped() {
  while (!signals_.take()) {
    Millis wait = serving_.store ? Millis{-1} : kStoreRetry;
    if (launcher_)
      if (const auto again = launcher_->tend()) {
        const auto delay = std::chrono::ceil<Millis>(*again - clock_.mono_now());
        const Millis sooner = std::max(delay, Millis{0});
        wait = wait < Millis{0} ? sooner : std::min(wait, sooner);
      }
    pollfd waited[] = {{signals_.fd(), POLLIN, 0},
                       {launcher_ ? launcher_->exit_descriptor() : -1, POLLIN, 0}};
    if (lock_) wait = wait < Millis{0} ? kLockCheck : std::min(wait, kLockCheck);
    (void)::poll(waited, 2, static_cast<int>(wait.count()));
    if (auto kept = keep_lock(); !kept) return kept;
    if (serving_.store) continue;
    const auto opened = open_store();
    if (told_to_stop_) return Done{};
    if (!opened && opened.error().kind != Failure::unavailable) return opened;
    if (!opened) say_store_is_away(opened.error());
  }
  return Done{};
}

// Nothing new is admitted or picked; running scripts get the stop budget, then the executor cuts
// them and writes 303; what is queued stays queued (a second signal ends the waiting).
void Daemon::stop() {
  stopping_ = true;
  events_.record(
      {Level::info, "stopping", {}, {{"budget", format_duration(settings_.serve.stop_budget)}}});
  if (serving_.loop) serving_.loop->stop_picking();
  const MonoTime deadline = clock_.mono_now() + settings_.serve.stop_budget;
  const auto busy = [&] {
    return (serving_.loop &&
            (!serving_.loop->has_stopped_picking() || serving_.loop->status().outstanding > 0)) ||
           (launcher_ && launcher_->figures().running > 0);
  };
  while (busy() && clock_.mono_now() < deadline && !signals_.wait(kStopStep)) {
  }
  if (launcher_) launcher_->stop(limits::kExecutorStop);
  executor_socket_.reset();  // a dispatch nobody has accepted is told so
  const MonoTime settled_by = clock_.mono_now() + limits::kExecutorStop;
  while (builtin_executor() && serving_.loop && serving_.loop->status().outstanding > 0 &&
         clock_.mono_now() < settled_by)
    pause(kStopStep);
  if (serving_.loop) serving_.loop->stop();
  if (serving_.reaper_loop) serving_.reaper_loop->stop();
  script_routes_->stop();  // the executor has cut what ran there: its answers still go out
  if (http_) http_->stop(limits::kHttpStopGrace);
  pool_.stop();
  serving_.store.reset();  // first: what it still writes is answered through the others
  events_.record({Level::info, "stopped", {}, {}});
}

}  // namespace

int run_serve(const ServeArguments& arguments) {
  ignore_broken_pipes();
  auto signals = StopSignals::block();
  if (!signals) {
    fmt::print(stderr, "coderunner: {}\n", signals.error().message);
    return kExitFailed;
  }
  return Daemon{arguments, *std::move(signals)}.run();
}

}  // namespace coderunner::app
