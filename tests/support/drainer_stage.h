// A drainer over the memory store, and the executor's moves by hand. For the drainer's unit tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "services/drainer.h"
#include "sim/memory_store.h"
#include "tests/support/fakes.h"

namespace coderunner {

using namespace std::chrono_literals;

class DrainerTest : public ::testing::Test {
 protected:
  ExecutionId admit(const std::string& account, const std::string& key = {}) {
    Admitted admitted;
    store_.admit(
        {.ref = {"ref" + std::to_string(++refs_)},
         .account = account,
         .account_id = secrets_.account_id(account),
         .key = secrets_.api_key_hash(key.empty() ? account : key),
         .sealed_key = secrets_.seal("k"),
         .source = "return",
         .queued_at = clock_.utc_now()},
        [&](const Result<AdmitAnswer>& answer) { admitted = std::get<Admitted>(*answer); });
    return admitted.execution;
  }

  Drainer make(std::string me = "me") {
    return Drainer{{.me = {std::move(me)}, .limits = limits_, .doubtful_after = 410s},
                   {store_, store_, transport_, probe_, secrets_, entropy_, clock_, events_}};
  }

  // The executor spends the nonce of the latest dispatch of `execution`.
  bool begin(ExecutionId execution, const std::string& executor = "worker") {
    for (auto at = transport_.started.rbegin(); at != transport_.started.rend(); ++at)
      if (at->execution == execution) {
        const auto begun = store_.begin({.job = at->job,
                                         .nonce = secrets_.nonce_hash(at->nonce),
                                         .run = run_of(execution),
                                         .executor = {executor},
                                         .now = clock_.utc_now()});
        return begun && std::holds_alternative<Begun>(*begun);
      }
    return false;
  }
  // The drainer's next tick hands it over and the executor takes it.
  bool begins(Drainer& drainer, ExecutionId execution, const std::string& executor = "worker") {
    tick(drainer);
    return begin(execution, executor);
  }
  void finish(ExecutionId execution) {
    ASSERT_EQ(*store_.finish(execution, run_of(execution), {}, clock_.utc_now()),
              FinishAnswer::finished);
    transport_.answer(execution, 200);
  }
  static RunId run_of(ExecutionId execution) { return {"run" + std::to_string(execution.value)}; }

  Status status(ExecutionId execution) { return (**store_.execution(execution)).status; }
  std::size_t dispatches() const { return transport_.started.size(); }

  Millis tick(Drainer& drainer, Millis later = 0ms) {
    clock_.advance(later);
    return drainer.tick();
  }

  int refs_ = 0;
  PlanLimits limits_;
  MemoryStore store_;
  fakes::HeldTransport transport_;
  fakes::ToldProbe probe_;
  fakes::PlainSecrets secrets_;
  fakes::CountingEntropy entropy_;
  fakes::TurnedClock clock_;
  fakes::RecordedEvents events_;
};

}  // namespace coderunner
