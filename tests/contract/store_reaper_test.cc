#include "tests/contract/backend.h"
#include "tests/contract/sqlite_files.h"

namespace coderunner::contract {
namespace {

using namespace std::chrono_literals;
using Planted = MemoryStore::Planted;
using Changes = std::vector<std::string>;

constexpr Millis kDay = 24h;

LogLine calling(const std::string& method, const std::string& path, std::optional<int> status) {
  LogLine line{{}, kNoon, "info", "line", ApiCall{}};
  line.call->method = method;
  line.call->path = path;
  line.call->status = status;
  return line;
}

class StoreReaper : public StoreContract {
 protected:
  ReaperStore& reaper() { return store->reaper(); }
  Admitted plant(Planted row) {
    row.account = "acme";
    if (!row.account_id) row.account_id = AccountId{"acme"};
    return store->plant(row);
  }
  Admitted plant_queued(UtcTime queued_at) { return plant({.queued_at = queued_at}); }
  Admitted plant_ended(UtcTime queued_at, const char* status = "success") {
    return plant({.status = status,
                  .queued_at = queued_at,
                  .started_at = queued_at + 1s,
                  .finished_at = queued_at + 2s});
  }
  bool exists(ExecutionId id) { return store->view().execution(id)->has_value(); }
  bool end(ExecutionId id) {
    return *reaper().end_never_dispatched({id, kNoon, kNoon, "never dispatched", kNoon + kDay});
  }
  std::vector<ExecutionId> old_rows(UtcTime now = kNoon, int limit = 10) {
    std::vector<ExecutionId> ids;
    for (const OldQueuedRow& row : *reaper().queued_before(kNoon, now, limit))
      ids.push_back(row.execution);
    return ids;
  }
};

INSTANTIATE_TEST_SUITE_P(On, StoreReaper,
                         testing::Values(BackendChoice{"memory", make_memory_backend},
                                         BackendChoice{"sqlite", make_sqlite_backend},
                                         BackendChoice{"sqlite_lying", make_lying_backend},
                                         BackendChoice{"sqlite_losing", make_losing_backend}),
                         [](const auto& suite) { return std::string{suite.param.name}; });

// Counts, which after a commit of unknown outcome are those of what was left to do.
class StoreHousekeeping : public StoreReaper {};

INSTANTIATE_TEST_SUITE_P(On, StoreHousekeeping,
                         testing::Values(BackendChoice{"memory", make_memory_backend},
                                         BackendChoice{"sqlite", make_sqlite_backend}),
                         [](const auto& suite) { return std::string{suite.param.name}; });

// ---- what a run had sent

TEST_P(StoreReaper, WhatARunHadSentIsReadFromItsLogLines) {
  const Admitted running = run("acme", "run1");
  const Admitted other = run("zeta", "run2");
  ASSERT_TRUE(store->ledger().append_log(running.execution, {calling("GET", "/cards", 200),
                                                             calling("POST", "/cards", {}),
                                                             calling("POST", "/cards", 200),
                                                             {{}, kNoon, "info", "said", {}},
                                                             calling("DELETE", "/cards/7", {})}));
  const Changes sent{"POST /cards: 200", "DELETE /cards/7: no answer"};
  EXPECT_EQ(*store->ledger().sent_changes(running.execution), sent);
  EXPECT_EQ(*store->ledger().sent_changes(other.execution), Changes{});
}

TEST_P(StoreReaper, WhoeverAbandonsARunListsWhatItHadSentUpToThen) {
  const Admitted reaped = run("acme", "run1");
  const Admitted drained = run("zeta", "run2");
  for (const Admitted& one : {reaped, drained})
    ASSERT_TRUE(store->ledger().append_log(one.execution, {calling("POST", "/cards", {})}));
  ASSERT_TRUE(*reaper().abandon(reaped.execution, RunId{"run1"}, "dead", kNoon));
  ASSERT_TRUE(*store->dispatch().abandon(drained.execution, RunId{"run2"}, "dead", kNoon));
  for (const Admitted& one : {reaped, drained})
    EXPECT_EQ(row(one.execution).error_message,
              "reaped: dead; it had sent 1: POST /cards: no answer");
}

// ---- running rows

TEST_P(StoreReaper, ARunThatFinishedMeanwhileIsNotAbandoned) {  // R16
  const Admitted running = run("acme", "run1");
  ASSERT_EQ(reaper().running()->size(), 1U);
  ASSERT_TRUE(store->ledger().finish(running.execution, {"run1"}, {}, kNoon));
  EXPECT_FALSE(*reaper().abandon(running.execution, RunId{"run1"}, "dead", kNoon));
  EXPECT_EQ(row(running.execution).state(), State::succeeded);
}

TEST_P(StoreReaper, AnAbandonedRunIsKilledAndItsKeyScrubbed) {
  const Admitted running = run("acme", "run1");
  EXPECT_TRUE(*reaper().abandon(running.execution, RunId{"run1"}, "dead", kNoon));
  EXPECT_EQ(row(running.execution).state(), State::killed);
  EXPECT_EQ(store->sealed_key(running.job), std::nullopt);
}

// ---- queued rows

TEST_P(StoreReaper, OldQueuedRowsComeOldestFirstAndNoneFromTheCutoffOn) {
  const Admitted younger = plant_queued(kNoon - 1s);
  const Admitted older = plant_queued(kNoon - 2s);
  plant_queued(kNoon);
  plant({.status = "running", .queued_at = kNoon - 3s, .started_at = kNoon - 3s});
  plant_ended(kNoon - kDay);
  plant({.queued_at = std::nullopt});
  EXPECT_EQ(old_rows(), (std::vector{older.execution, younger.execution}));
  EXPECT_EQ(old_rows(kNoon, 1), (std::vector{older.execution}));
}

TEST_P(StoreReaper, ARowThatIsGatedOrPausedIsNotAmongThem) {
  const Admitted gated = plant({.key = ApiKeyHash{"k1"}, .queued_at = kNoon - 2s});
  plant({.account_id = AccountId{"zeta"}, .queued_at = kNoon - 1s});
  ASSERT_TRUE(store->gates().close({{"k1"}, kNoon + 1s, kNoon, kNoon, 1s, 429}, kNoon));
  store->pause_account({"zeta"});
  EXPECT_EQ(old_rows(), std::vector<ExecutionId>{});
  EXPECT_EQ(old_rows(kNoon + 1s), std::vector{gated.execution});
}

TEST_P(StoreReaper, ARowThatWasNeverDispatchedEndsWithItsKeyAndItsNonce) {
  const Admitted old = admit("acme", "k1", -1s);
  mint(old, "n1", kNoon);
  EXPECT_TRUE(end(old.execution));
  const Execution ended = row(old.execution);
  EXPECT_EQ(ended.state(), State::never_dispatched);
  EXPECT_EQ(ended.error_message, "never dispatched");
  EXPECT_EQ(ended.finished_at, kNoon + kDay);
  EXPECT_EQ(store->sealed_key(old.job), std::nullopt);
  EXPECT_TRUE(refused(begin(old.job, "n1", "run1")));
}

// Each of these is read again by the write: it may have changed since the row was listed.
TEST_P(StoreReaper, NoRowEndsThatBeganMeanwhile) {  // R16
  const Admitted old = admit("acme", "k1", -1s);
  mint(old, "n1");
  ASSERT_FALSE(refused(begin(old.job, "n1", "run1")));
  EXPECT_FALSE(end(old.execution));
  EXPECT_EQ(row(old.execution).state(), State::running);
}

TEST_P(StoreReaper, NoRowEndsThatIsNotOldEnough) {
  const Admitted young = admit("acme", "k1");
  EXPECT_FALSE(end(young.execution));
  EXPECT_FALSE(end(plant({.queued_at = std::nullopt}).execution));
  EXPECT_EQ(store->sealed_key(young.job), "sealed-k1");
}

TEST_P(StoreReaper, NoRowEndsWhoseKeyIsGated) {
  const Admitted gated = admit("acme", "k1", -1s);
  const UtcTime then = kNoon + kDay;
  ASSERT_TRUE(store->gates().close({{"k1"}, then + 1s, then, then, 1s, 429}, then));
  EXPECT_FALSE(end(gated.execution));
  EXPECT_EQ(row(gated.execution).state(), State::queued);
}

TEST_P(StoreReaper, NoRowEndsWhoseAccountIsPaused) {
  const Admitted paused = admit("acme", "k1", -1s);
  const Admitted other = admit("zeta", "k1", -1s);
  store->pause_account({"acme"});
  EXPECT_FALSE(end(paused.execution));
  EXPECT_TRUE(end(other.execution));
}

TEST_P(StoreReaper, NoRowEndsWhileEverybodyIsPaused) {
  const Admitted old = admit("acme", "k1", -1s);
  store->pause_account({""});
  EXPECT_FALSE(end(old.execution));
}

TEST_P(StoreReaper, NoRowEndsWhileADrainerTicks) {
  const Admitted old = admit("acme", "k1", -1s);
  ASSERT_TRUE(store->dispatch().heartbeat({{"dead"}, kNoon - 1s}));
  ASSERT_TRUE(store->dispatch().heartbeat({{"alive"}, kNoon}));
  EXPECT_FALSE(end(old.execution));
}

TEST_P(StoreReaper, ATickBeforeTheVerdictsTimeKeepsNoRowAlive) {
  const Admitted old = admit("acme", "k1", -1s);
  ASSERT_TRUE(store->dispatch().heartbeat({{"dead"}, kNoon - 1s}));
  EXPECT_TRUE(end(old.execution));
}

TEST_P(StoreReaper, TheLastTickIsThatOfWhicheverDrainer) {
  EXPECT_EQ(*reaper().last_tick(), std::nullopt);
  ASSERT_TRUE(store->dispatch().heartbeat({{"d1"}, kNoon}));
  ASSERT_TRUE(store->dispatch().heartbeat({{"d2"}, kNoon - 1s}));
  EXPECT_EQ(*reaper().last_tick(), kNoon);
}

// ---- idempotency keys

TEST_P(StoreHousekeeping, AnIdempotencyKeyIsFreeAgainOnceItsExecutionIsOldEnough) {
  const auto admit = [&](const std::string& ref, const std::string& key, Millis after_noon) {
    NewExecution asks = fresh("acme", "k1", after_noon);
    asks.ref = {ref};
    asks.idempotency = Idempotency{key, {"request-of-" + ref}, kNoon - kDay};
    return answer_of_admit(store->admission(), asks);
  };
  ASSERT_TRUE(admit("r1", "old", 0ms));
  ASSERT_TRUE(admit("r2", "older", 0ms));
  ASSERT_TRUE(admit("r3", "young", 1s));
  EXPECT_EQ(*reaper().forget_idempotency_keys(kNoon + 1s, 1), 1);
  EXPECT_EQ(*reaper().forget_idempotency_keys(kNoon + 1s, 9), 1);
  EXPECT_EQ(*reaper().forget_idempotency_keys(kNoon + 1s, 9), 0);
  EXPECT_TRUE(std::holds_alternative<Admitted>(*admit("r4", "old", 2s)));
  EXPECT_TRUE(std::holds_alternative<KeyReused>(*admit("r5", "young", 2s)));
}

// ---- scrub

TEST_P(StoreHousekeeping, KeysAreScrubbedByTheStartOfTheirExecutionAndNeverWhileQueued) {
  const auto held = [&](const char* status, std::optional<UtcTime> started_at,
                        std::optional<UtcTime> finished_at) {
    return plant({.status = status,
                  .queued_at = kNoon - kDay,
                  .started_at = started_at,
                  .finished_at = finished_at,
                  .sealed_key = "sealed"});
  };
  const Admitted queued = held("queued", {}, {});
  const Admitted started_once = held("queued", kNoon - 1s, {});  // whoever wrote that
  const Admitted running = held("running", kNoon - 1s, {});
  const Admitted young = held("running", kNoon, {});
  const Admitted ended = held("success", kNoon - 2s, kNoon - 1s);
  const Admitted cancelled = held("error", {}, kNoon - 1s);
  EXPECT_EQ(*reaper().scrub_keys(kNoon, 2), 2);
  EXPECT_EQ(*reaper().scrub_keys(kNoon, 2), 1);
  EXPECT_EQ(*reaper().scrub_keys(kNoon, 2), 0);
  for (const Admitted& kept : {queued, started_once, young})
    EXPECT_EQ(store->sealed_key(kept.job), "sealed");
  for (const Admitted& gone : {running, ended, cancelled})
    EXPECT_EQ(store->sealed_key(gone.job), std::nullopt);
}

// ---- purge

TEST_P(StoreHousekeeping, TheNewestQueuedTimeIsThatOfWhicheverState) {
  EXPECT_EQ(*reaper().newest_queued_at(), std::nullopt);
  plant({.status = "success", .started_at = kNoon + kDay, .finished_at = kNoon + kDay});
  EXPECT_EQ(*reaper().newest_queued_at(), std::nullopt) << "an old writer's row has none";
  plant_ended(kNoon);
  EXPECT_EQ(*reaper().newest_queued_at(), kNoon);
  plant_ended(kNoon + 1s, "error");
  EXPECT_EQ(*reaper().newest_queued_at(), kNoon + 1s);
  plant({.status = "running", .queued_at = kNoon + 2s, .started_at = kNoon + 9s});
  EXPECT_EQ(*reaper().newest_queued_at(), kNoon + 2s);
  plant_queued(kNoon + 3s);
  EXPECT_EQ(*reaper().newest_queued_at(), kNoon + 3s);
}

TEST_P(StoreHousekeeping, OnlyFinishedRowsArePurged) {
  const Admitted queued = plant_queued(kNoon - kDay);
  const Admitted running =
      plant({.status = "running", .queued_at = kNoon - kDay, .started_at = kNoon - kDay});
  ASSERT_TRUE(store->ledger().append_log(running.execution, {calling("POST", "/cards", {})}));
  const Admitted success = plant_ended(kNoon - kDay);
  const Admitted error = plant_ended(kNoon - kDay, "error");
  const Admitted young = plant_ended(kNoon);
  EXPECT_EQ(*reaper().purge({kNoon}), (Purged{2, 0, false}));
  EXPECT_TRUE(exists(queued.execution) && exists(running.execution) && exists(young.execution));
  EXPECT_FALSE(exists(success.execution) || exists(error.execution));
  EXPECT_EQ(store->ledger().sent_changes(running.execution)->size(), 1U);
  EXPECT_EQ(*reaper().purge({kNoon}), (Purged{0, 0, false}));
}

TEST_P(StoreHousekeeping, APurgedRowTakesItsJobAndItsLogLinesWithIt) {
  const Admitted gone = run("acme", "run1", kNoon - 1s);
  const Admitted kept = run("zeta", "run2", kNoon);
  for (const auto& [which, run_id] : {std::pair{gone, "run1"}, std::pair{kept, "run2"}}) {
    ASSERT_TRUE(store->ledger().append_log(which.execution, {calling("GET", "/cards", 200)}));
    ASSERT_TRUE(store->ledger().finish(which.execution, {run_id}, {}, kNoon));
  }
  EXPECT_EQ(*reaper().purge({kNoon + 1s, 1}), (Purged{1, 1, true}));
  EXPECT_FALSE(exists(gone.execution));
  EXPECT_EQ(store->view().logs(gone.execution, {}, 10)->size(), 0U);
  EXPECT_EQ(store->view().logs(kept.execution, {}, 10)->size(), 1U);
  EXPECT_TRUE(store->view().dispatch_trace(kept.execution)->has_value());
}

TEST_P(StoreHousekeeping, APurgeTakesTheOldestFirstAndSaysWhetherThereIsMore) {
  const Admitted younger = plant_ended(kNoon - 1s);
  const Admitted older = plant_ended(kNoon - 2s, "error");
  const Admitted oldest = plant_ended(kNoon - 3s);
  EXPECT_EQ(*reaper().purge({kNoon, 2}), (Purged{2, 0, true}));
  EXPECT_FALSE(exists(oldest.execution) || exists(older.execution));
  EXPECT_TRUE(exists(younger.execution));
  EXPECT_EQ(*reaper().purge({kNoon, 2}), (Purged{1, 0, false}));
}

TEST_P(StoreHousekeeping, ARowOfAnOldWriterIsPurgedByItsStart) {
  const auto old_writers = [&](UtcTime started_at) {
    return plant({.status = "success", .started_at = started_at, .finished_at = kNoon});
  };
  const Admitted old = old_writers(kNoon - 1s);
  const Admitted young = old_writers(kNoon);
  const Admitted rewritten = plant(  // admitted after it had been started, by its clock
      {.status = "success", .queued_at = kNoon, .started_at = kNoon - 1s, .finished_at = kNoon});
  EXPECT_EQ(*reaper().purge({kNoon}), (Purged{1, 0, false}));
  EXPECT_FALSE(exists(old.execution));
  EXPECT_TRUE(exists(young.execution) && exists(rewritten.execution));
}

TEST_P(StoreHousekeeping, ARowWithALongLogGoesWithItsLastLines) {
  const Admitted long_one = run("acme", "run1", kNoon - 1s);
  ASSERT_TRUE(store->ledger().append_log(long_one.execution,
                                         std::vector<LogLine>(5, calling("GET", "/", 200))));
  ASSERT_TRUE(store->ledger().finish(long_one.execution, {"run1"}, {}, kNoon));
  EXPECT_EQ(*reaper().purge({kNoon + 1s, 10, 3}), (Purged{0, 3, true}));
  EXPECT_TRUE(exists(long_one.execution));
  EXPECT_EQ(*reaper().purge({kNoon + 1s, 10, 3}), (Purged{1, 2, false}));
  EXPECT_FALSE(exists(long_one.execution));
}

TEST_P(StoreHousekeeping, EntriesOfOperatorsActsArePurgedOldestFirst) {
  for (const Millis before : {1s, 3s, 0s, 2s})
    ASSERT_TRUE(store->control().pause({"loopback", kNoon - before}, std::nullopt) &&
                store->control().resume({"loopback", kNoon - before}, std::nullopt));
  EXPECT_EQ(*reaper().purge_audit(kNoon, 3), 3);
  EXPECT_EQ(store->audit().size(), 5U);
  EXPECT_EQ(store->audit().back(), "11:59:58.000 loopback resume *");
  EXPECT_EQ(*reaper().purge_audit(kNoon, 9), 3);
  EXPECT_EQ(*reaper().purge_audit(kNoon, 9), 0);
  EXPECT_EQ(store->audit(), (std::vector<std::string>{"12:00:00.000 loopback pause *",
                                                      "12:00:00.000 loopback resume *"}));
}

TEST_P(StoreHousekeeping, GatesThatOpenedLongAgoAreForgotten) {
  const auto close = [&](const char* key, UtcTime until) {
    ASSERT_TRUE(store->gates().close({{key}, until, kNoon, kNoon, 1s, 429}, kNoon));
  };
  close("young", kNoon + 3s);
  close("older", kNoon + 2s);
  close("oldest", kNoon + 1s);
  EXPECT_EQ(*reaper().forget_gates(kNoon + 3s, 1), 1);
  EXPECT_FALSE(*store->gates().last({"oldest"}));
  EXPECT_TRUE(*store->gates().last({"older"}));
  EXPECT_EQ(*reaper().forget_gates(kNoon + 3s, 9), 1);
  EXPECT_EQ(*reaper().forget_gates(kNoon + 3s, 9), 0);
  EXPECT_TRUE(*store->gates().last({"young"}));
}

// ---- the sweep's own mark

TEST_P(StoreReaper, TheLastSweepIsKept) {
  EXPECT_EQ(store->last_sweep(), std::nullopt);
  ASSERT_TRUE(reaper().record_sweep(kNoon));
  ASSERT_TRUE(reaper().record_sweep(kNoon + 5s));
  EXPECT_EQ(store->last_sweep(), kNoon + 5s);
}

}  // namespace
}  // namespace coderunner::contract
