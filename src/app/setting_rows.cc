#include <type_traits>
#include <utility>

#include "app/setting_table.h"

namespace coderunner::app {
namespace {

using namespace std::chrono_literals;

using S = Settings;
using Text = std::string;
using Rows = std::vector<SettingRow>;

constexpr Millis kDay = 24h;
constexpr Millis kLongest = 3650 * kDay;  // still far from what a time stamp can hold
constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;
constexpr int kMostQueued = 10'000'000;  // what the store was never measured beyond

SettingRow number(std::string_view key, IntSetting kind) { return {key, kind}; }
SettingRow time(std::string_view key, DurationSetting kind) { return {key, kind}; }
SettingRow size(std::string_view key, SizeSetting kind) { return {key, kind}; }
SettingRow text(std::string_view key, TextSetting kind) { return {key, kind}; }
SettingRow word(std::string_view key, WordSetting kind) { return {key, std::move(kind)}; }

// The words name the values of the enumeration from 0, in its order.
template <auto of>
WordSetting words(std::vector<std::string_view> names) {
  using Word = std::remove_reference_t<decltype(of(std::declval<S&>()))>;
  return {std::move(names), [](S& s) { return static_cast<std::size_t>(of(s)); },
          [](S& s, std::size_t i) { of(s) = static_cast<Word>(i); }};
}

Rows store_rows() {
  return {
      text("store.url", {[](S& s) -> Text& { return s.store.url; }}),
      text("store.password_file", {[](S& s) -> Text& { return s.store.password_file; }}),
  };
}

Rows queue_rows() {
  return {
      number("queue.concurrency",
             {[](S& s) -> int& { return s.queue.concurrency; }, 1, limits::kMaxConcurrency}),
      number("queue.per_account",
             {[](S& s) -> int& { return s.queue.per_account; }, 1, limits::kMaxConcurrency}),
      word("queue.order", words<[](S& s) -> Order& { return s.queue.order; }>({"fair", "fifo"})),
      number("queue.max_queued_per_account",
             {[](S& s) -> int& { return s.queue.max_queued_per_account; }, 1, kMostQueued}),
      number("queue.max_queued", {[](S& s) -> int& { return s.queue.max_queued; }, 1, kMostQueued}),
      {"queue.wakeup", BoolSetting{[](S& s) -> bool& { return s.queue.wakeup; }}},
      time("queue.poll_interval",
           {[](S& s) -> Millis& { return s.queue.poll_interval; }, 10ms, limits::kMaxPollInterval}),
  };
}

Rows gate_rows() {
  return {
      word("gate.backend",
           words<[](S& s) -> GateBackend& { return s.gate.backend; }>({"store", "memcached"})),
      text("gate.memcached", {[](S& s) -> Text& { return s.gate.memcached; }}),
      time("gate.margin", {[](S& s) -> Millis& { return s.gate.margin; }, 0ms, 1h}),
      time("gate.max", {[](S& s) -> Millis& { return s.gate.max; }, 1s, kDay}),
      time("gate.minute", {[](S& s) -> Millis& { return s.gate.minute; }, 100ms, 1h}),
  };
}

Rows executor_rows() {
  return {
      word("executor.mode",
           words<[](S& s) -> ExecutorMode& { return s.executor.mode; }>({"builtin", "http"})),
      text("executor.url", {[](S& s) -> Text& { return s.executor.url; }}),
      text("executor.listen", {[](S& s) -> Text& { return s.executor.listen; }}),
      number("executor.max_children",
             {[](S& s) -> int& { return s.executor.max_children; }, 1, limits::kMaxConcurrency}),
      time("executor.wall", {[](S& s) -> Millis& { return s.executor.wall; }, 100ms, kDay}),
      time("executor.loop_budget",
           {[](S& s) -> Millis& { return s.executor.loop_budget; }, 10ms, kDay}),
      size("executor.memory",
           {[](S& s) -> std::size_t& { return s.executor.memory; }, kMiB, 16 * kGiB}),
  };
}

Rows api_rows() {
  return {
      text("api.base_url", {[](S& s) -> Text& { return s.api.base_url; }}),
      time("api.timeout", {[](S& s) -> Millis& { return s.api.timeout; }, 10ms, 1h}),
      number("api.max_attempts", {[](S& s) -> int& { return s.api.max_attempts; }, 1, 100}),
      time("api.method_limit_wait",
           {[](S& s) -> Millis& { return s.api.method_limit_wait; }, 0ms, 1h}),
  };
}

Rows serve_rows() {
  return {
      time("serve.stop_budget", {[](S& s) -> Millis& { return s.serve.stop_budget; }, 0ms, kDay}),
  };
}

Rows log_rows() {
  return {
      word("log.format",
           words<[](S& s) -> LogFormat& { return s.log.format; }>({"logfmt", "json"})),
      word("log.level",
           words<[](S& s) -> Level& { return s.log.level; }>({"debug", "info", "warn", "error"})),
  };
}

Rows reaper_rows() {
  return {
      time("reaper.margin", {[](S& s) -> Millis& { return s.reaper.margin; }, 0ms, kDay}),
      time("reaper.running_after",
           {[](S& s) -> Millis& { return s.reaper.running_after; }, 1ms, kLongest}),
      time("reaper.queued_after",
           {[](S& s) -> Millis& { return s.reaper.queued_after; }, 1ms, kLongest}),
      time("reaper.purge_after",
           {[](S& s) -> Millis& { return s.reaper.purge_after; }, 1ms, kLongest}),
      time("reaper.scrub_after",
           {[](S& s) -> Millis& { return s.reaper.scrub_after; }, 1ms, kLongest}),
  };
}

Rows http_rows() {
  return {
      text("http.listen", {[](S& s) -> Text& { return s.http.listen; }}),
      size("http.max_body", {[](S& s) -> std::size_t& { return s.http.max_body; }, kKiB, kGiB}),
      time("http.request_timeout",
           {[](S& s) -> Millis& { return s.http.request_timeout; }, 10ms, 1h}),
      {"http.allowed_hosts",
       ListSetting{[](S& s) -> std::vector<Text>& { return s.http.allowed_hosts; }}},
  };
}

Rows client_rows() {
  return {
      text("client.url", {[](S& s) -> Text& { return s.client.url; }}),
      text("client.token_file", {[](S& s) -> Text& { return s.client.token_file; }}),
  };
}

Rows secrets_rows() {
  return {
      text("secrets.salt_file", {[](S& s) -> Text& { return s.secrets.salt_file; }}),
      text("secrets.key_file", {[](S& s) -> Text& { return s.secrets.key_file; }}),
  };
}

Rows make_table() {
  Rows table;
  for (const Rows& rows :
       {store_rows(), queue_rows(), gate_rows(), executor_rows(), api_rows(), serve_rows(),
        log_rows(), reaper_rows(), http_rows(), client_rows(), secrets_rows()})
    table.insert(table.end(), rows.begin(), rows.end());
  return table;
}

}  // namespace

const std::vector<SettingRow>& setting_table() {
  static const Rows table = make_table();
  return table;
}

}  // namespace coderunner::app
