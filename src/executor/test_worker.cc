#include "executor/test_worker.h"

#include <poll.h>
#include <sys/socket.h>

#include <memory>
#include <utility>

#include "domain/limits.h"
#include "executor/conversation.h"
#include "executor/curl_api_client.h"
#include "executor/frame.h"
#include "executor/poll_until.h"
#include "executor/test_protocol.h"
#include "executor/worker_place.h"

namespace coderunner::executor {
namespace {

// The connection to `serve`, which reads whatever is sent at once.
class TestPeer {
 public:
  TestPeer(Descriptor socket, const Clock& clock) : socket_(std::move(socket)), clock_(clock) {}
  int descriptor() const { return socket_.get(); }

  std::optional<TestRequest> read_request() {
    const MonoTime until = clock_.mono_now() + limits::kTestExchange;
    FrameReader reader;
    for (;;) {
      pollfd readable{socket_.get(), POLLIN, 0};
      if (!poll_until({&readable, 1}, until, clock_)) return std::nullopt;
      if (reader.pull(socket_.get()) == FrameReader::Pulled::end) return std::nullopt;
      const auto frame = reader.next();
      if (!frame) return std::nullopt;
      if (!*frame) continue;
      auto request = parse_test_request(**frame);
      return request ? std::optional{*std::move(request)} : std::nullopt;
    }
  }

  bool say(const FromTest& said) {
    const std::string frame = to_frame(from_test_json(said));
    const MonoTime until = clock_.mono_now() + limits::kTestExchange;
    for (std::size_t at = 0; at < frame.size();) {
      const ssize_t sent =
          ::send(socket_.get(), frame.data() + at, frame.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) at += static_cast<std::size_t>(sent);
      if (sent >= 0 || errno == EINTR) continue;
      pollfd writable{socket_.get(), POLLOUT, 0};
      if ((errno != EAGAIN && errno != EWOULDBLOCK) || !poll_until({&writable, 1}, until, clock_))
        return false;
    }
    return true;
  }

 private:
  Descriptor socket_;
  const Clock& clock_;
};

// Where a run without a row keeps its log: with `serve`. What has been passed on is as durable as
// the run itself.
class TestLedger final : public Ledger {
 public:
  explicit TestLedger(TestPeer& peer) : peer_(peer) {}

  Result<std::variant<Begun, BeginRefused>> begin(const Begin&) override { return no_row(); }
  Result<FinishAnswer> finish(ExecutionId, const RunId&, const Outcome&, UtcTime) override {
    return no_row();
  }
  Result<std::vector<std::string>> sent_changes(ExecutionId) override { return no_row(); }

  Result<Done> append_log(ExecutionId, const std::vector<LogLine>& lines) override {
    for (const LogLine& line : lines)
      if (!peer_.say(line)) return fail(Failure::unavailable, "nobody takes the log");
    return Done{};
  }
  Result<AnnounceAnswer> announce(ExecutionId execution, const RunId&,
                                  const std::vector<LogLine>& lines) override {
    const auto kept = append_log(execution, lines);
    if (!kept) return kept.error();
    return AnnounceAnswer::announced;
  }

 private:
  static Error no_row() { return fail(Failure::internal, "a run in the test lane has no row"); }
  TestPeer& peer_;
};

constexpr ExecutionId kNoExecution{0};  // what such a script sees as execution.id

class TestWorker {
 public:
  TestWorker(const RunSettings& settings, const TestWorkerParts& parts, WorkerPlace place)
      : settings_(settings), parts_(parts), place_(std::move(place)) {}

  void serve() {
    while (auto order = place_.next_order())
      if (order->verb == kConnection && order->descriptors.size() == 1)
        serve_one({std::move(order->descriptors.front()), parts_.clock});
  }

 private:
  // Idle for the master before the last word to `serve`, which then knows the place to be free.
  void serve_one(TestPeer peer) {
    place_.enter(Stage::reading);
    const auto last_word = run(peer);
    place_.tell_idle();
    if (last_word) peer.say(*last_word);
  }

  std::optional<FromTest> run(TestPeer& peer) {
    const auto request = peer.read_request();
    if (!request) return std::nullopt;
    place_.master().read();
    if (place_.master().must_stop()) return TestRefused{"the executor is stopping"};
    GateStore& gates = parts_.gates();  // may have to wait for the store: no script waits with it
    place_.enter(Stage::spawning);
    auto script = ScriptLink::request(place_.master(), settings_.script, parts_.clock);
    if (!script) return TestRefused{script.error().message};
    const MonoTime wall = parts_.clock.mono_now() + settings_.wall;
    place_.enter(Stage::running);
    if (!peer.say(TestStarted{})) return std::nullopt;
    TestLedger ledger{peer};
    RunLog log{ledger, parts_.clock, {kNoExecution, RunId{random_hex_128(parts_.entropy)}}};
    const Outcome outcome =
        drive(*request, std::move(*script), log, {gates, wall, peer.descriptor()});
    if (!log.flush()) return std::nullopt;
    tell(outcome);
    return outcome;
  }

  struct Ground {
    GateStore& gates;
    MonoTime wall;
    int client = -1;
  };
  // Takes the script: it is gone when this returns.
  Outcome drive(const TestRequest& request, ScriptLink script, RunLog& log, const Ground& ground) {
    const auto api = api_for(request);
    RunSockets watch{{place_.master(), script, parts_.clock, ground.wall, ground.client}};
    Broker broker{
        {*api, ground.gates, log, watch, parts_.clock, parts_.events},
        {std::nullopt, request.key, request.debug, settings_.api.timeout, settings_.ladder}};
    Conversation conversation{{script, watch, broker, log, parts_.clock, settings_.wall}};
    return conversation.hold({kNoExecution, request.source, request.payload, request.identifier});
  }

  std::unique_ptr<ApiClient> api_for(const TestRequest& request) const {
    auto address = base_address(settings_.api.base_url, request.account);
    if (!address) return std::make_unique<UnusableApi>(address.error().message);
    return std::make_unique<CurlApiClient>(CurlApiOptions{*address, request.api_key}, parts_.clock);
  }

  void tell(const Outcome& outcome) const {
    parts_.events.record(
        {Level::info,
         "test_run_ended",
         std::nullopt,
         {{"status", std::string{to_text(outcome.status())}},
          {"code", outcome.code ? std::to_string(number(*outcome.code)) : "none"}}});
  }

  const RunSettings& settings_;
  const TestWorkerParts& parts_;
  WorkerPlace place_;
};

}  // namespace

int run_test_worker(const RunSettings& settings, const TestWorkerParts& parts) {
  auto place = WorkerPlace::take("cr-test-worker", parts.clock, parts.events);
  if (!place) return 1;
  TestWorker{settings, parts, std::move(*place)}.serve();
  return 0;
}

}  // namespace coderunner::executor
