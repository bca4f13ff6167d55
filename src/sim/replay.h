// The replay of an arrival trace on virtual time (contract section 8): the same trace and options
// give the same figures, to the byte. `queue` runs the product's own admission, drainer, plan, gate
// and ladders over a memory store; `none` is the old world: a pool of workers, first come first
// served, and a 429 that is slept out inside the worker. Called by `coderunner simulate`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "domain/lane_plan.h"
#include "domain/limits.h"
#include "sim/quota_windows.h"
#include "sim/trace.h"

namespace coderunner::sim {

enum class Policy { none, queue };

struct ReplayOptions {
  Policy policy = Policy::queue;
  int workers = limits::kReplayWorkers;  // policy none
  PlanLimits plan;                       // policy queue, as what follows
  int max_queued_per_account = limits::kMaxQueuedPerAccount;
  int max_queued = limits::kMaxQueued;
  int max_attempts = limits::kApiMaxAttempts;
  Quota quota;
  Millis wall = limits::kWall;
  std::uint64_t seed = 0;  // of what is drawn: which account goes first among equals is not
  friend bool operator==(const ReplayOptions&, const ReplayOptions&) = default;
};

struct ReplayFigures {
  int arrivals = 0;
  int succeeded = 0;
  int killed_at_wall = 0;
  int failed = 0;
  int rejected = 0;
  int max_in_flight = 0;
  int max_queued = 0;
  Millis max_queued_age{0};
  Millis worker_time{0};         // held by runs, whatever became of them
  Millis killed_worker_time{0};  // held by runs that were killed
  Millis last_kill_at{0};
  Millis drained_at{0};       // when the last run ended
  std::vector<Millis> waits;  // arrival to begin, in order of size
  friend bool operator==(const ReplayFigures&, const ReplayFigures&) = default;
};

struct ReplayReport {
  ReplayFigures all;
  int max_in_flight_per_account = 0;
  std::map<std::string, ReplayFigures> accounts;
  friend bool operator==(const ReplayReport&, const ReplayReport&) = default;
};

ReplayReport replay(const std::vector<TraceArrival>& trace, const ReplayOptions& options);

// Of sorted waits: the smallest that at least `percent` of them do not exceed; 0 of none.
Millis percentile(const std::vector<Millis>& sorted, int percent);

}  // namespace coderunner::sim
