// fake-businessmap: the API's shapes and quotas on a port, for demos and tests (contract section
// 1). Loopback only. The first line on stdout says where it listens; SIGTERM and SIGINT end it with
// 0, bad usage with 2.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "adapters/http_server/http_server.h"
#include "adapters/system/signals.h"
#include "adapters/system/system_clock.h"
#include "fake/api.h"
#include "fake/delay_line.h"

namespace coderunner::fake {
namespace {

constexpr int kFailed = 1;
constexpr int kBadUsage = 2;
constexpr int kDefaultV1Limit = 60;  // facts 1.6: 30 or 60 an hour
constexpr int kMost = 1'000'000'000;
constexpr Millis kStopGrace{500};
constexpr Millis kLongWait{3'600'000};

struct Flags {
  int port = 0;
  std::int64_t window_ms = 60'000;
  std::int64_t latency_ms = 0;
  int v1_limit = kDefaultV1Limit;
  std::string retry_after = "both";
  ApiOptions api;
};

// Says in the help what kind of value is meant; what is out of range is named when it is given.
template <typename Number>
CLI::Validator range(Number least, Number most) {
  return CLI::Range(least, most).description("");
}

void describe(CLI::App& app, Flags& flags) {
  app.option_defaults()->always_capture_default();
  app.add_option("--port", flags.port, "port on 127.0.0.1; 0: the kernel picks")
      ->check(range(0, 65535));
  app.add_option("--per-minute", flags.api.quota.per_minute, "calls per key and minute")
      ->check(range(0, kMost));
  app.add_option("--per-hour", flags.api.quota.per_hour, "calls per key and hour")
      ->check(range(0, kMost));
  app.add_option("--window-ms", flags.window_ms, "how long the minute lasts; the hour is 60 of it")
      ->check(range(1, kMost));
  app.add_option("--latency-ms", flags.latency_ms, "how long each answer waits")
      ->check(range(0, kMost));
  app.add_option("--fail-rate", flags.api.fail_rate, "share of calls answered 500, 0 to 1")
      ->check(range(0.0, 1.0));
  app.add_option("--reset-rate", flags.api.reset_rate,
                 "share of connections closed before or after the effect, 0 to 1")
      ->check(range(0.0, 1.0));
  app.add_option("--retry-after", flags.retry_after,
                 "how a 429 says when to come back: header, body, both, neither, date, zero, "
                 "negative, huge or html")
      ->check([](const std::string& name) {
        return retry_after_form(name) ? "" : "no such form: " + name;
      });
  app.add_option("--v1-limit", flags.v1_limit,
                 "calls per key and endpoint in an hour, then the old API's 401 (off unless given; "
                 "alone: 60)")
      ->expected(0, 1)
      ->default_str(std::to_string(kDefaultV1Limit))
      ->check(range(0, kMost));
  app.add_option("--seed", flags.api.seed, "seed of the failures and resets");
}

Result<Done> serve(const Flags& flags) {
  ignore_broken_pipes();
  auto signals = StopSignals::block();
  if (!signals) return signals.error();
  const SystemClock clock;
  Api api{flags.api};
  DelayLine delays{clock};
  const Millis latency{flags.latency_ms};
  HttpServerOptions options;
  options.listen = fmt::format("127.0.0.1:{}", flags.port);
  options.clock = &clock;
  // One I/O thread: the Api sees one request at a time. The effect is at arrival, the wait after.
  const auto server =
      start_http_server(options, [&](const HttpRequest& request, const HttpRespond& respond) {
        HttpResponse response = api.answer(request, clock.utc_now());
        if (latency <= Millis{0} || request.path.starts_with("/_"))
          return respond(std::move(response));
        delays.after(latency, [respond, given = std::move(response)] { respond(given); });
      });
  if (!server) return server.error();
  fmt::print("listening on {}\n", (*server)->address());
  std::fflush(stdout);
  while (!signals->wait(kLongWait)) continue;
  (*server)->stop(kStopGrace);
  return Done{};
}

int run(int count, char** words) {
  CLI::App app{
      "A stand-in for the Businessmap API with its quotas, at "
      "http://127.0.0.1:PORT/{account}/api/v2. GET /_ledger shows every effect that took "
      "place, POST /_reset empties it.",
      "fake-businessmap"};
  Flags flags;
  describe(app, flags);
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadUsage;
  }
  flags.api.quota.minute = Millis{flags.window_ms};
  flags.api.retry_after = retry_after_form(flags.retry_after).value_or(RetryAfterForm::both);
  if (app.count("--v1-limit") > 0) flags.api.v1_limit = flags.v1_limit;
  const auto served = serve(flags);
  if (!served) fmt::print(stderr, "fake-businessmap: {}\n", served.error().message);
  return served ? 0 : kFailed;
}

}  // namespace
}  // namespace coderunner::fake

int main(int count, char** words) { return coderunner::fake::run(count, words); }
