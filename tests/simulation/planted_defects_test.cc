// Defects planted between the faults and the true store: the judge must find each within a few
// hundred seeds, and what is left of the scenario must be small enough to read.
#include <gtest/gtest.h>

#include "domain/sent_changes.h"
#include "sim/simulation.h"
#include "tests/support/passing_dispatch.h"

namespace coderunner::sim {
namespace {

using fakes::PassingDispatch;

constexpr std::uint64_t kSeeds = 500;

struct SkipsTheRevoke final : PassingDispatch {
  using PassingDispatch::PassingDispatch;
  Result<RevokeAnswer> revoke(ExecutionId execution, const BackOff&) override {
    const auto row = *truth_.execution(execution);
    if (!row || is_finished(row->status)) return RevokeAnswer::ended;
    return row->status == Status::running ? RevokeAnswer::running : RevokeAnswer::free;
  }
};

struct SkipsTheRevokeAtStart final : PassingDispatch {
  using PassingDispatch::PassingDispatch;
  Result<int> revoke_all() override { return 0; }
};

struct HidesWhatRuns final : PassingDispatch {
  using PassingDispatch::PassingDispatch;
  Result<std::vector<RunningRow>> running() override { return std::vector<RunningRow>{}; }
};

struct ForgetsTheChanges final : PassingDispatch {
  using PassingDispatch::PassingDispatch;
  Result<bool> abandon(ExecutionId execution, const std::optional<RunId>& run,
                       const std::string& reason, UtcTime now) override {
    if (!run) return truth_.abandon(execution, run, reason, now);
    const auto ended =
        truth_.finish(execution, *run, {ErrorCode::ended_from_outside, reaped(reason, {})}, now);
    if (!ended) return ended.error();
    return *ended == FinishAnswer::finished;
  }
};

struct OffersTheYoungestFirst final : PassingDispatch {
  using PassingDispatch::PassingDispatch;
  Result<std::vector<Lane>> lanes(int) override {
    auto lanes = truth_.lanes(100);
    for (Lane& lane : *lanes) std::reverse(lane.rows.begin(), lane.rows.end());
    return lanes;
  }
};

// Takes any nonce for the row's own.
class IgnoresTheNonce final : public Ledger {
 public:
  explicit IgnoresTheNonce(MemoryStore& truth) : truth_(truth) {}
  Result<std::variant<Begun, BeginRefused>> begin(const Begin& begin) override {
    const auto lanes = truth_.lanes(100);
    for (const Lane& lane : *lanes)
      for (const LaneRow& row : lane.rows)
        if (row.job == begin.job)
          static_cast<void>(
              truth_.mint({row.execution, row.job, begin.nonce, {"anybody"}, begin.now}));
    return truth_.begin(begin);
  }
  Result<FinishAnswer> finish(ExecutionId execution, const RunId& run, const Outcome& outcome,
                              UtcTime now) override {
    return truth_.finish(execution, run, outcome, now);
  }
  Result<Done> append_log(ExecutionId execution, const std::vector<LogLine>& lines) override {
    return truth_.append_log(execution, lines);
  }
  Result<AnnounceAnswer> announce(ExecutionId execution, const RunId&,
                                  const std::vector<LogLine>& lines) override {
    const auto kept = truth_.append_log(execution, lines);  // nor does it ask whose row it is
    if (!kept) return kept.error();
    return AnnounceAnswer::announced;
  }
  Result<std::vector<std::string>> sent_changes(ExecutionId execution) override {
    return truth_.sent_changes(execution);
  }

 private:
  MemoryStore& truth_;
};

class AcknowledgesWhatItLoses final : public AdmissionStore {
 public:
  explicit AcknowledgesWhatItLoses(MemoryStore& truth) : truth_(truth) {}
  void admit(NewExecution execution, AdmitDone done) override {
    if (++admitted_ % 5 == 0) return done(AdmitAnswer{Admitted{{admitted_ + 1000}, {1}}});
    truth_.admit(std::move(execution), std::move(done));
  }
  void refuse(NewRefusal refusal, RefuseDone done) override {
    truth_.refuse(std::move(refusal), std::move(done));
  }

 private:
  MemoryStore& truth_;
  int admitted_ = 0;
};

std::size_t parts(const Scenario& scenario) {
  return scenario.arrivals.size() + scenario.happenings.size() + scenario.call_faults.size();
}

void expect_caught(const Defects& defects) {
  const SimulationOptions options{.defects = defects};
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Scenario scenario = draw_scenario(seed);
    const auto violation = simulate(scenario, options).violation;
    if (!violation) continue;
    const Scenario small = shrink(scenario, options);
    const auto again = simulate(small, options).violation;
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->invariant, violation->invariant);
    EXPECT_LE(parts(small), 12U) << describe(small);
    EXPECT_LE(parts(small), parts(scenario));
    std::printf("seed %llu, \"%s\", %zu parts of %zu left\n", static_cast<unsigned long long>(seed),
                again->invariant.c_str(), parts(small), parts(scenario));
    return;
  }
  FAIL() << "not found in " << kSeeds << " seeds";
}

template <class Defect>
Defects in_dispatch() {
  return {.ledger = {},
          .dispatch = [](MemoryStore& truth) { return std::make_unique<Defect>(truth); },
          .admission = {}};
}

TEST(PlantedDefects, ARevokeThatIsSkippedIsCaught) { expect_caught(in_dispatch<SkipsTheRevoke>()); }

TEST(PlantedDefects, ANewDrainerThatRevokesNothingIsCaught) {
  expect_caught(in_dispatch<SkipsTheRevokeAtStart>());
}

TEST(PlantedDefects, RunsThatAreNotCountedAreCaught) {
  expect_caught(in_dispatch<HidesWhatRuns>());
}

TEST(PlantedDefects, AMessageThatForgetsChangesIsCaught) {
  expect_caught(in_dispatch<ForgetsTheChanges>());
}

TEST(PlantedDefects, AYoungerRowThatGoesFirstIsCaught) {
  expect_caught(in_dispatch<OffersTheYoungestFirst>());
}

TEST(PlantedDefects, ANonceThatIsIgnoredIsCaught) {
  expect_caught(
      {.ledger = [](MemoryStore& truth) { return std::make_unique<IgnoresTheNonce>(truth); },
       .dispatch = {},
       .admission = {}});
}

TEST(PlantedDefects, AnAcknowledgedRowThatIsNotThereIsCaught) {
  expect_caught({.ledger = {}, .dispatch = {}, .admission = [](MemoryStore& truth) {
                   return std::make_unique<AcknowledgesWhatItLoses>(truth);
                 }});
}

}  // namespace
}  // namespace coderunner::sim
