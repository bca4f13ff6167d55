// Every number that bounds something, in one place, with its source. What an operator may change is
// a setting with this as its default; what nobody may change is a constant.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace coderunner::limits {

using namespace std::chrono_literals;

// Admission (contract section 2)
inline constexpr std::size_t kMaxAccountBytes = 63;  // one DNS label
inline constexpr std::size_t kMaxIdentifierCharacters = 255;
inline constexpr std::size_t kMaxPayloadBytes = 256 * 1024;
inline constexpr std::size_t kMaxApiKeyBytes =
    1024;  // real keys are 40; a header line must stay sane
inline constexpr std::size_t kMaxRefusedSourceBytes = 16 * 1024;
inline constexpr std::size_t kMaxIdempotencyKeyBytes = 255;
inline constexpr Millis kIdempotencyKeyKept = 24h;
// A full queue of one account frees about 12 places in it: 2 slots, 1.6 s a script (brief 6).
inline constexpr Millis kRetryAfterRejection = 10s;
// Refused submissions kept as rows of their own in one hour (rulings 20); an account's name costs
// nothing to invent, so there is a bound on all of them too.
inline constexpr Millis kRefusalHour = 1h;
inline constexpr int kMaxRefusalsKeptPerAccount = 1000;
inline constexpr int kMaxRefusalsKept = 10'000;
inline constexpr std::size_t kMaxBody = 1024 * 1024;  // http.max_body

// Rows
inline constexpr std::size_t kMaxErrorMessageBytes =
    8 * 1024;  // TEXT holds 64 KiB; a page line does not
inline constexpr std::size_t kMaxDispatchErrorBytes = 500;  // last_dispatch_error VARCHAR(500)
inline constexpr int kMaxListed = 500;                      // one page of executions or log lines
inline constexpr int kDefaultListed = 50;

// Queue (brief 4, 11.1; rulings 2, 4)
inline constexpr int kConcurrency = 4;
inline constexpr int kPerAccount = 2;
inline constexpr int kMaxConcurrency = 256;  // dependencies 2.E: curl halves beyond
inline constexpr int kMaxQueuedPerAccount = 500;
inline constexpr int kMaxQueued = 2000;
inline constexpr Millis kPollInterval = 1s;
inline constexpr Millis kMaxPollInterval = 2s;       // contract section 5
inline constexpr Millis kNonceLifetime = 300s;       // brief 3, from the mint
inline constexpr Millis kVirtualTimeWindow = 15min;  // rulings 4
inline constexpr Millis kStalledAfter = 5s;          // contract section 6
inline constexpr Millis kHeartbeatInterval = 2s;     // well under kStalledAfter
inline constexpr Millis kReplanDelay = 100ms;        // after a refused mint: soon, but no busy loop
inline constexpr Millis kDispatchSlack = 5s;         // the transport gives up after the drainer
inline constexpr Millis kDispatchBackOffMin = 250ms;
inline constexpr Millis kDispatchBackOffMax = 30s;  // issue: back-off with jitter up to 30 s

// Gate (brief 8, facts 3, 6)
inline constexpr Millis kGateMargin = 5s;
inline constexpr Millis kGateMax = 65min;
inline constexpr Millis kGateMinute = 60s;
// A reader's `now` may be older than the gate it reads by what a tick waits for the store, and a
// clock is set back by a little now and then.
inline constexpr Millis kGateSlack = 60s;
inline constexpr Millis kGateRemembered = 24h;  // a key that found no work for so long has no herd

// Executor (brief 2, 3; rulings 10, 27)
inline constexpr int kMaxChildren = 8;
inline constexpr Millis kWall = 300s;
inline constexpr Millis kLoopBudget = 180s;
inline constexpr std::size_t kScriptMemory = 64UL * 1024 * 1024;
inline constexpr std::size_t kMaxGotos = 1000;  // a parse of 30,000 took 2.9 s of CPU
inline constexpr Millis kMaxParse =
    2s;  // 1 MiB of plain code takes 50 ms, of names nested deep 11 s
inline constexpr Millis kMasterKillAfterWall = 5s;
inline constexpr Millis kFinishAttempt =
    60s;  // one try at writing an outcome waits 3 x 5 s for the store, and on its disk
inline constexpr std::size_t kMaxFrameBytes =
    16UL * 1024 * 1024;  // one message between script and broker
inline constexpr std::size_t kMaxLogBytesPerRun = 1024UL * 1024;
inline constexpr std::size_t kMaxLogLineBytes = 16UL * 1024;
// Calls but GETs, with their re-sends; no account's quota allows a tenth of it within a wall. They
// are logged beyond the run's share, so they have one of their own.
inline constexpr int kMaxChangesPerRun = 10'000;
inline constexpr std::size_t kMaxChangeLogBytesPerRun = 16UL * 1024 * 1024;
inline constexpr std::size_t kLogLineOverhead = 64;  // a line of one byte costs a row all the same
inline constexpr std::size_t kMaxApiAnswerBytes = 8UL * 1024 * 1024;

// Executor processes (rulings 26, 27; issue 2)
inline constexpr Millis kWorkerIdle = 60s;  // a worker beyond the first one kept is let go then
inline constexpr Millis kExecutorRestartMin = 100ms;
inline constexpr Millis kExecutorRestartMax = 5s;
inline constexpr Millis kExecutorSettled =
    10s;                                    // a master that lived this long failed for a new reason
inline constexpr Millis kScriptStart = 5s;  // zygote's fork takes about 1 ms
inline constexpr Millis kScriptCpuBeyondBudget = 2s;
// What a script process may hold beside its Lua state: a frame of 16 MiB as text, decoded, and on
// its way out.
inline constexpr std::size_t kScriptMemoryBeyondLua = 8 * kMaxFrameBytes;
inline constexpr std::size_t kScriptStack = 8UL * 1024 * 1024;  // the usual one, now also the hard
inline constexpr Millis kSandboxTry = 5s;  // one attempt of the self-test; each takes about 1 ms
inline constexpr Millis kStoreRetryMin = 200ms;
inline constexpr Millis kStoreRetryMax = 5s;
inline constexpr Millis kStopFinish = 10s;  // what writing the last rows may take once told to stop
inline constexpr Millis kRefusalDrain = 1s;  // a refused client gets this long to read its 503
inline constexpr Millis kRunRequestTimeout =
    2s;  // a dispatch is one small write, there before a worker looks; half of one holds a worker
inline constexpr int kMaxRefusals = 64;  // such clients at a time; beyond, they are just closed
inline constexpr int kMaxJsonDepth =
    100;  // of a script's values: C stack, and nobody nests so deep
inline constexpr std::size_t kMaxApiPathBytes = 8 * 1024;

// POST /codeRunner/test (contract section 2)
inline constexpr int kTestPlaces = 2;  // runs at a time, beside the pool's children
inline constexpr Millis kTestWall = 60s;
inline constexpr Millis kTestExchange = 5s;  // to pass on one request or one line, within a machine
inline constexpr std::size_t kMaxTestLogBytes =
    4UL * 1024 * 1024;  // of an answer: a run's own share, and the calls that are always kept

// API (brief 10, contract section 7)
inline constexpr Millis kApiTimeout = 180s;
inline constexpr int kApiMaxAttempts = 3;
inline constexpr Millis kMethodLimitWait = 60s;
inline constexpr Millis kLongRetryAfter = 100s;  // from here on the run ends, the gate waits
inline constexpr Millis kDefaultRetryAfter = 60s;

// Stop
inline constexpr Millis kStopBudget = 30s;
inline constexpr Millis kExecutorStop = 5s;   // to cut what runs and write its 303
inline constexpr Millis kHttpStopGrace = 2s;  // for requests already read

// Reaper (rulings 2, 5, 23)
inline constexpr Millis kReaperMargin = 10s;
inline constexpr Millis kRunningAfter = 15min;
inline constexpr Millis kQueuedAfter = 24h;
inline constexpr Millis kPurgeAfter = 24h * 90;
inline constexpr Millis kScrubAfter = 2h;
inline constexpr Millis kSweepInterval = 5s;  // also how soon an outage of the store is told
inline constexpr Millis kHousekeepingInterval = 1min;  // scrub and purge, idle
inline constexpr Millis kBatchGap = 100ms;             // and between their batches
inline constexpr Millis kProofGrace =
    10s;  // the run's own executor and the drainer come first: they know better what happened
inline constexpr Millis kClockJump = 5s;       // rulings 24
inline constexpr Millis kUnwatchedGap = 1min;  // a reaper that slept this long has watched nothing
inline constexpr Millis kNewestQueuedAge = 24h;  // rulings 23
inline constexpr int kReapedAtOnce = 50;         // queued rows of one sweep, each its own commit
// One transaction of a sweep: some milliseconds of work, so that no status write waits (R67).
inline constexpr int kScrubbedAtOnce = 200;
inline constexpr int kPurgedAtOnce = 50;
inline constexpr int kPurgedLinesAtOnce = 500;
// Log lines with a call: two of each change, and 16,000 others fill a run's share.
inline constexpr int kMaxSentRead = 2 * kMaxChangesPerRun + 16'000;

// Replays (contract section 8)
inline constexpr int kReplayWorkers = 40;  // of the old world's pool, brief 1
inline constexpr Millis kMaxTraceSpan = 24h * 366;
inline constexpr int kMaxTraceCalls = 1'000'000;  // of one execution
inline constexpr std::size_t kMaxTraceArrivals = 1'000'000;
inline constexpr std::size_t kMaxTraceBytes = 256UL * 1024 * 1024;

// Files of the installation
inline constexpr std::size_t kMaxSecretFileBytes = 4 * 1024;  // a salt or a key is one line
inline constexpr std::size_t kMaxConfigBytes = 1024 * 1024;
inline constexpr std::size_t kMaxScriptFileBytes =
    16UL * 1024 * 1024;  // the server refuses far less

// Log
inline constexpr std::size_t kMaxLogFieldBytes = 4 * 1024;  // one field of one event

// Store (rulings 4, 28, 29)
inline constexpr Millis kStoreWaitMin = 1ms;
inline constexpr Millis kStoreWaitMax = 5ms;
inline constexpr Millis kStoreWaitBudget = 5s;
inline constexpr std::size_t kMaxUnitsPerCommit = 128;  // group commit gains little beyond 64
inline constexpr int kStoreReaders = 4;
inline constexpr Millis kLongestRun = 1h;  // beyond: a dead run waiting for the reaper, not a slot
inline constexpr Millis kForgetDrainerAfter = 24h;

// Commands that speak HTTP
inline constexpr Millis kClientConnectTimeout = 5s;
inline constexpr Millis kClientTimeout = 60s;  // above http.request_timeout and a store wait
inline constexpr std::size_t kMaxClientAnswerBytes =
    64UL * 1024 * 1024;  // a page of 500 long lines
inline constexpr Millis kFollowInterval = 200ms;
inline constexpr Millis kFollowPatience =
    60s;  // how long a server that went away may take to return

// HTTP
inline constexpr Millis kRequestTimeout = 30s;
inline constexpr int kWorkThreads = 4;  // parse and read the store beside the I/O thread
inline constexpr std::size_t kMaxWaitingWork = 1024;  // requests; beyond: 503
inline constexpr std::size_t kMaxHeaderBytes =
    16UL * 1024;  // room for an API key and cookies; also of trailers, of a chunk's extension
inline constexpr int kMaxConnections = 1024;       // the usual descriptor limit of a process
inline constexpr int kMaxRefusedConnections = 64;  // beyond it no 503 is said either
inline constexpr int kAcceptBurst = 64;            // then the lane's own connections get a turn
inline constexpr Millis kAcceptPause = 100ms;      // out of descriptors: do not spin
inline constexpr std::size_t kDrainBytes = 4UL * 1024 * 1024;  // architecture section 4
inline constexpr Millis kDrainTime = 2s;                       // architecture section 4
inline constexpr Millis kDispatchConnectTimeout = 5s;  // the executor is on this machine or near
inline constexpr std::size_t kMaxDispatchAnswerBytes = 1024UL * 1024;  // ours is 60 bytes

// A worker may outlive its wall by a third of it before an FPM master looks again (facts 4.1).
constexpr Millis doubtful_after(Millis wall, Millis margin) { return wall + wall / 3 + margin; }

// The fake API: what a demo left running for days may keep in memory
inline constexpr std::size_t kMaxFakeKeys = 10'000;
inline constexpr std::size_t kMaxFakeAccounts = 1'000;
inline constexpr std::size_t kMaxFakeCards = 10'000;     // per account
inline constexpr std::size_t kMaxFakeCardParts = 1'000;  // comments, subtasks or links of one card
inline constexpr std::size_t kMaxFakeBulk = 1'000;       // cards of one bulk call
inline constexpr std::size_t kMaxFakeEffects = 100'000;  // of the ledger
inline constexpr std::size_t kMaxFakeEffectBytes = 64U << 20U;  // of the ledger's bodies as sent
inline constexpr int kMaxFakeBodyDepth = 64;                    // no real body nests deeper than 6
inline constexpr std::int64_t kFakeDefaultPage = 200;           // facts 1.5
inline constexpr std::int64_t kFakeMaxPage = 1'000;             // facts 1.5

}  // namespace coderunner::limits
