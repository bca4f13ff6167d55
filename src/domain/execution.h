// The row of one execution and its parts, as values (contract section 4). Text fields are valid
// UTF-8.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "domain/error_code.h"
#include "domain/state.h"

namespace coderunner {

struct Execution {
  ExecutionId id;
  std::optional<JobId> job;
  std::string account;  // the name, as in `subdomain`
  AccountId account_id;
  std::optional<ApiKeyHash> key;
  std::optional<std::string> identifier;
  Status status = Status::queued;
  std::optional<int> error_code;
  std::optional<std::string> error_message;
  bool debug = false;
  UtcTime queued_at;  // a NULL column reads as started_at (old writers)
  std::optional<UtcTime> started_at;
  std::optional<UtcTime> finished_at;
  std::optional<RunId> run;
  std::optional<ExecutorId> executor;

  State state() const { return shown_state(status, error_code, started_at.has_value()); }
  friend bool operator==(const Execution&, const Execution&) = default;
};

// How a run ended. `code` is set exactly when it did not succeed.
struct Outcome {
  std::optional<ErrorCode> code;
  std::string message;

  Status status() const { return code ? Status::error : Status::success; }
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

struct ApiCall {  // one attempt of one call, as the log shows it
  std::string method;
  std::string path;
  std::optional<int> status;  // absent: sent, no answer (yet)
  Millis duration{0};
  int attempt = 1;
  std::optional<int> remaining;  // X-RateLimit-PerMinute-Remaining
  friend bool operator==(const ApiCall&, const ApiCall&) = default;
};

struct LogLine {
  LogId id;
  UtcTime at;
  std::string level;  // "info", "warn", "error", "debug"
  std::string message;
  std::optional<ApiCall> call;
  friend bool operator==(const LogLine&, const LogLine&) = default;
};

// Slot time an account has used or holds, for the fair order (rulings 4).
struct SlotUse {
  AccountId account;
  Millis held{0};
  friend bool operator==(const SlotUse&, const SlotUse&) = default;
};

}  // namespace coderunner
