// Every statement of the SQL store, by face (contract section 3), and the list of the hot ones
// whose plans a test holds to the indexes. Used by the faces only. Must never call a clock or a
// random function: times and ids are bound, each placeholder once, in the order of the values.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seams/store.h"

namespace coderunner::sql::text {

// Admission
extern const std::string_view kInsertJob;
extern const std::string_view kInsertExecution;
extern const std::string_view kInsertRefusal;
extern const std::string_view kFindAdmission;
extern const std::string_view kFindRefusal;
extern const std::string_view kDepthInAll;
extern const std::string_view kDepthOfAccount;
extern const std::string_view kFindByIdempotencyKey;
extern const std::string_view kForgetIdempotencyKey;
extern const std::string_view kRefusalTally;
extern const std::string_view kUpdateTally;
extern const std::string_view kFirstTally;
extern const std::string_view kForgetTallies;
extern const std::string_view kFoldRefusal;

// Dispatch
extern const std::string_view kFirstLane;
extern const std::string_view kNextLane;
extern const std::string_view kLaneAfterKeyless;
extern const std::string_view kFirstLaneOfNextAccount;
extern const std::string_view kFirstKeyOfNobody;
extern const std::string_view kNextKeyOfNobody;
extern const std::string_view kLaneHeads;
extern const std::string_view kRunning;
extern const std::string_view kEndedSince;
extern const std::string_view kMintable;
extern const std::string_view kMint;
extern const std::string_view kMinted;
extern const std::string_view kStatusAndJob;
extern const std::string_view kRevoke;
extern const std::string_view kRevokeAll;
extern const std::string_view kOutstandingNonce;
extern const std::string_view kEndRun;
extern const std::string_view kRunEnded;
extern const std::string_view kEndQueued;
extern const std::string_view kScrubJob;
extern const std::string_view kTick;
extern const std::string_view kFirstTick;
extern const std::string_view kForgetDrainers;

// Ledger
extern const std::string_view kQueuedByJob;
extern const std::string_view kBeginExecution;
extern const std::string_view kSpendNonce;
extern const std::string_view kBegun;
extern const std::string_view kBegunByRun;
extern const std::string_view kIsThisRun;
extern const std::string_view kInsertLog;
extern const std::string_view kFindLog;
extern const std::string_view kCalls;

// Reaper
extern const std::string_view kOldQueued;
extern const std::string_view kEndNeverDispatched;
extern const std::string_view kKeysToScrub;
extern const std::string_view kScrubKeys;
extern const std::string_view kIdempotencyKeysToForget;
extern const std::string_view kForgetIdempotencyKeys;
extern const std::string_view kOldAudit;
extern const std::string_view kPurgeAudit;
extern const std::string_view kOldGates;
extern const std::string_view kForgetGates;
extern const std::string_view kNewestQueued;
extern const std::string_view kFinishedBefore;
extern const std::string_view kFinishedBeforeOfOldWriters;
extern const std::string_view kDeleteLines;
extern const std::string_view kAnyLine;
extern const std::string_view kDeleteFinished;
extern const std::string_view kDeleteJob;
extern const std::string_view kSweep;
extern const std::string_view kFirstSweep;

// Views
extern const std::string_view kExecution;
extern const std::string_view kExecutionText;
extern const std::string_view kDispatchTrace;
extern const std::string_view kLogs;
extern const std::string_view kQueuedByLane;
extern const std::string_view kRunningByAccount;
extern const std::string_view kAccountName;
extern const std::string_view kLastTick;
extern const std::string_view kNewestHeartbeat;
extern const std::string_view kOutstanding;
// Its values: before, then the account where the filter has one, then the limit.
std::string list_executions(const ExecutionFilter& filter);

// Gates
extern const std::string_view kGate;
extern const std::string_view kClosedGate;
extern const std::string_view kClosedGates;
extern const std::string_view kGateRecords;
extern const std::string_view kExtendGate;
extern const std::string_view kInsertGate;
extern const std::string_view kClearGate;

// Operators
extern const std::string_view kPaused;
extern const std::string_view kOverrides;
extern const std::string_view kPause;
extern const std::string_view kResume;
extern const std::string_view kCancel;
extern const std::string_view kQueuedOfAccount;
extern const std::string_view kSetOverride;
extern const std::string_view kClearOverride;
extern const std::string_view kAccountState;
extern const std::string_view kInsertAudit;
extern const std::string_view kFindAudit;

struct Named {
  std::string_view name;
  std::string_view text;
};
// Run at every tick, admission, run or page: none may scan a table or sort.
std::vector<Named> hot_statements();
// Those of them that stand in files of their own.
std::span<const Named> hot_reaper_statements();
std::span<const Named> hot_view_statements();

}  // namespace coderunner::sql::text
