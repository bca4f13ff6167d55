// Every setting an operator has, with its default (contract section 5). Filled by config.h, read by
// the composition and the commands; plain values that never change after start.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "adapters/log/log_line.h"
#include "base/time.h"
#include "domain/lane_plan.h"
#include "domain/limits.h"

namespace coderunner::app {

enum class Role { api, drainer, executor };
enum class GateBackend { store, memcached };
enum class ExecutorMode { builtin, http };

struct StoreSettings {
  std::string url = "sqlite:var/coderunner.db";
  std::string password_file;
  friend bool operator==(const StoreSettings&, const StoreSettings&) = default;
};

struct QueueSettings {
  int concurrency = limits::kConcurrency;
  int per_account = limits::kPerAccount;
  Order order = Order::fair;
  int max_queued_per_account = limits::kMaxQueuedPerAccount;
  int max_queued = limits::kMaxQueued;
  bool wakeup = true;
  Millis poll_interval = limits::kPollInterval;
  friend bool operator==(const QueueSettings&, const QueueSettings&) = default;
};

struct GateSettings {
  GateBackend backend = GateBackend::store;
  std::string memcached = "127.0.0.1:11211";
  Millis margin = limits::kGateMargin;
  Millis max = limits::kGateMax;
  Millis minute = limits::kGateMinute;
  friend bool operator==(const GateSettings&, const GateSettings&) = default;
};

struct ExecutorSettings {
  ExecutorMode mode = ExecutorMode::builtin;
  std::string url;     // where mode is http
  std::string listen;  // where the role runs alone; empty: a loopback port the kernel picks
  int max_children = limits::kMaxChildren;
  Millis wall = limits::kWall;
  Millis loop_budget = limits::kLoopBudget;
  std::size_t memory = limits::kScriptMemory;  // bytes of one script
  friend bool operator==(const ExecutorSettings&, const ExecutorSettings&) = default;
};

struct ApiSettings {
  std::string base_url = "https://{account}.kanbanize.com/api/v2";  // no slash at its end
  Millis timeout = limits::kApiTimeout;
  int max_attempts = limits::kApiMaxAttempts;
  Millis method_limit_wait = limits::kMethodLimitWait;
  friend bool operator==(const ApiSettings&, const ApiSettings&) = default;
};

struct ServeSettings {
  Millis stop_budget = limits::kStopBudget;
  friend bool operator==(const ServeSettings&, const ServeSettings&) = default;
};

struct LogSettings {
  LogFormat format = LogFormat::logfmt;
  Level level = Level::info;
  friend bool operator==(const LogSettings&, const LogSettings&) = default;
};

struct ReaperSettings {
  Millis margin = limits::kReaperMargin;
  Millis running_after = limits::kRunningAfter;
  Millis queued_after = limits::kQueuedAfter;
  Millis purge_after = limits::kPurgeAfter;
  Millis scrub_after = limits::kScrubAfter;
  friend bool operator==(const ReaperSettings&, const ReaperSettings&) = default;
};

struct HttpSettings {
  std::string listen = "127.0.0.1:8080";  // or "[::1]:PORT", "unix:PATH"
  std::size_t max_body = limits::kMaxBody;
  Millis request_timeout = limits::kRequestTimeout;
  std::vector<std::string> allowed_hosts;  // empty: the listen address and localhost
  friend bool operator==(const HttpSettings&, const HttpSettings&) = default;
};

struct ClientSettings {
  std::string url;  // empty: http.listen
  std::string token_file;
  friend bool operator==(const ClientSettings&, const ClientSettings&) = default;
};

struct SecretsSettings {
  std::string salt_file = "var/salt";
  std::string key_file = "var/key";
  friend bool operator==(const SecretsSettings&, const SecretsSettings&) = default;
};

struct Settings {
  StoreSettings store;
  QueueSettings queue;
  GateSettings gate;
  ExecutorSettings executor;
  ApiSettings api;
  ServeSettings serve;
  LogSettings log;
  ReaperSettings reaper;
  HttpSettings http;
  ClientSettings client;
  SecretsSettings secrets;
  friend bool operator==(const Settings&, const Settings&) = default;
};

}  // namespace coderunner::app
