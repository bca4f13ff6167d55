// The two routes that look at a script without admitting it (contract section 2): a test run, at
// once and outside the queue, in a lane of its own; and a check. Neither writes a row or asks the
// store, so both work while it is away or the queue is full. Called by Routes.
#pragma once

#include <atomic>
#include <functional>
#include <string_view>

#include "adapters/http_server/http.h"
#include "app/work_pool.h"
#include "base/result.h"
#include "base/time.h"
#include "domain/admission_policy.h"
#include "executor/descriptor.h"
#include "seams/clock.h"
#include "seams/script_check.h"
#include "seams/secrets.h"

namespace coderunner::app {

inline constexpr std::string_view kTestPath = "/codeRunner/test";
inline constexpr std::string_view kLintPath = "/internal/codeRunner";

struct ScriptRoutesParts {
  const ScriptCheck& script_check;
  const Secrets& secrets;
  const Clock& clock;
  const std::atomic<bool>& stopping;
  Millis wall{0};  // of a test run
  // A socket into the test lane; empty where no built-in executor runs in this process.
  std::function<Result<executor::Descriptor>()> open_run;
};

class ScriptRoutes {
 public:
  explicit ScriptRoutes(ScriptRoutesParts parts);

  // On an I/O thread, in the request's handler; never blocks. 503 where limits::kTestPlaces runs
  // have not been answered yet: a test run waits for nothing.
  void test(const HttpRequest& request, const HttpRespond& respond);
  // Parses: not for an I/O thread.
  HttpResponse lint(const HttpRequest& request) const;
  // Once the executor was stopped: answers the test runs whose workers it could not stop, and
  // returns when all are answered.
  void stop();

 private:
  HttpResponse answer_test(const HttpRequest& request, executor::Descriptor client) const;
  HttpResponse run(Submission submission, executor::Descriptor client) const;

  ScriptRoutesParts parts_;
  executor::Descriptor cut_;  // an eventfd: readable from stop() on
  std::atomic<int> places_taken_ = 0;
  WorkPool pool_;  // one thread for each place: a run blocks its own
};

}  // namespace coderunner::app
