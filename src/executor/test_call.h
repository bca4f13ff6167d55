// The end of `serve` of one run in the test lane: sends the request, collects what comes, and
// stays until the run has an outcome. Thread-safe: each run is its own.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "executor/descriptor.h"
#include "executor/test_protocol.h"
#include "seams/clock.h"

namespace coderunner::executor {

struct TestReport {
  Outcome outcome;
  Millis took{0};  // from the script's start
  std::vector<LogLine> logs;
};

struct TestCall {
  Descriptor lane;    // from Launcher::open_test_run(); its closing ends the run
  Descriptor client;  // of whoever waits for the answer, not read; may be closed
  Millis wall{0};     // of the run
  int cut = -1;       // readable: nothing more is waited for; borrowed
};

// Blocks until the run's end, until the client has gone (the run is cut then, and the answer is for
// nobody), until it is cut, or, where the executor itself lies still, for a little longer than the
// wall. TestRefused: nothing ran. A run whose worker died ends 303 and names what it had sent.
std::variant<TestReport, TestRefused> hold_test(TestCall call, const TestRequest& request,
                                                const Clock& clock);

}  // namespace coderunner::executor
