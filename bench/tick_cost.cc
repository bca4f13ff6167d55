// What a tick costs beside a long queue, and beside many gated keys:
//   coderunner-bench tick FOLDER [ROWS]  1,000 and ROWS queued rows in 20 lanes: lanes, plan, mint
//   coderunner-bench gated FOLDER        999 gated accounts and one that is not, against that one
//                                        alone: a tick, and from its admission to its mint
// Each fills two stores in FOLDER, which it leaves there, and times both in turn.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "adapters/sql/sql_store.h"
#include "adapters/sql/sqlite_session.h"
#include "adapters/system/system_clock.h"
#include "adapters/system/system_entropy.h"
#include "base/ensure.h"
#include "domain/lane_plan.h"

namespace coderunner {
namespace {

class NoEvents final : public Events {
 public:
  void record(const Event&) override {}
};

struct Seams {
  SystemClock clock;
  SystemEntropy entropy;
  NoEvents events;
};

std::unique_ptr<sql::SqlStore> new_store(const std::string& path, Seams& seams) {
  sql::StoreOptions options{.url = "sqlite:" + path, .create = true, .pause = [](Millis) {}};
  options.writer = sql::Writer::caller;
  auto store = sql::open_store(options, seams.clock, seams.entropy, seams.events);
  ensure(store.has_value(), "the folder can be written");
  return *std::move(store);
}

std::unique_ptr<sql::SqlStore> filled_store(const std::string& path, std::int64_t rows,
                                            Seams& seams) {
  auto store = new_store(path, seams);
  const auto session = sql::make_sqlite_session({.path = path});
  ensure(session->ensure_usable().has_value(), "the store is there");
  ensure(session
             ->execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                       "WHERE i < :rows) INSERT INTO codeRunner_jobs (job_id) SELECT i FROM n",
                       {rows})
             .has_value(),
         "jobs");
  ensure(session
             ->execute("INSERT INTO codeRunner_executions (job_id, subdomain, subdomain_hash, "
                       "status, queued_at) SELECT job_id, 'a' || (job_id % 20), "
                       "'a' || (job_id % 20), 'queued', '2026-08-24 12:00:00.000' "
                       "FROM codeRunner_jobs")
             .has_value(),
         "executions");
  return store;
}

double since_ms(MonoTime began, Seams& seams) {
  return std::chrono::duration<double, std::milli>(seams.clock.mono_now() - began).count();
}

double tick_ms(sql::SqlStore& store, Seams& seams) {
  const MonoTime began = seams.clock.mono_now();
  PlanInput input{.lanes = *store.dispatch().lanes(2), .now = seams.clock.utc_now()};
  const Plan plan = plan_lanes(input, FairShare{});
  const LaneRow& row = plan.picks.front().row;
  const auto minted = store.dispatch().mint(
      {row.execution, row.job, NonceHash{"bench"}, DrainerId{"bench"}, input.now});
  ensure(minted && *minted == MintAnswer::minted, "the head of a lane is queued");
  return since_ms(began, seams);
}

double report(const std::string& name, std::vector<double> times) {
  std::ranges::sort(times);
  const double median = times[times.size() / 2];
  fmt::print("{:>30}: median {:.3f} ms, p5 {:.3f}, p95 {:.3f}\n", name, median,
             times[times.size() / 20], times[times.size() - 1 - times.size() / 20]);
  return median;
}

int bench_tick(const std::string& folder, std::int64_t rows) {
  Seams seams;
  const auto small = filled_store(folder + "/small.db", 1000, seams);
  const auto large = filled_store(folder + "/large.db", rows, seams);
  std::vector<double> small_ms, large_ms;
  for (int round = 0; round < 300; ++round) {
    small_ms.push_back(tick_ms(*small, seams));
    large_ms.push_back(tick_ms(*large, seams));
  }
  const double few = report("1000 rows", small_ms);
  const double many = report(fmt::format("{} rows", rows), large_ms);
  fmt::print("ratio {:.2f} (at most 1.5)\n", many / few);
  return many <= few * 1.5 ? 0 : 1;
}

NewExecution execution_of(const std::string& account, const std::string& ref, UtcTime now) {
  NewExecution fresh;
  fresh.ref = {ref};
  fresh.account = account;
  fresh.account_id = {account};
  fresh.key = ApiKeyHash{"key of " + account};
  fresh.sealed_key = "sealed";
  fresh.source = "return";
  fresh.queued_at = now;
  return fresh;
}

Admitted admit(sql::SqlStore& store, NewExecution fresh) {
  Admitted row;
  store.admission().admit(std::move(fresh), [&row](const Result<AdmitAnswer>& answer) {
    ensure(answer.has_value(), "the store can be written");
    row = std::get<Admitted>(*answer);
  });
  return row;
}

struct Start {
  double tick_ms = 0;
  double from_admission_ms = 0;
};

// All that a tick reads before it plans; its one pick is minted, and ended outside the figures.
Start start_of_last(sql::SqlStore& store, int round, Seams& seams) {
  const MonoTime began = seams.clock.mono_now();
  const UtcTime now = seams.clock.utc_now();
  const Admitted row = admit(store, execution_of("last", fmt::format("last-{}", round), now));
  const MonoTime ticked = seams.clock.mono_now();
  const auto running = store.dispatch().running();
  const auto standing = store.dispatch().standing();
  ensure(running && standing, "the store can be read");
  PlanInput input{.lanes = *store.dispatch().lanes(limits::kPerAccount), .now = now};
  for (const Gate& gate : *store.gates().closed(now)) input.gates[gate.key] = gate.until;
  take_gate_records(input, *store.dispatch().gate_records(now), GatePolicy{});
  FairShare shares;
  shares.set_active(active_accounts(input));
  const Plan plan = plan_lanes(input, shares);
  ensure(plan.picks.size() == 1 && plan.picks.front().row.execution == row.execution,
         "the only one that is not gated is picked");
  const auto minted =
      store.dispatch().mint({row.execution, row.job, NonceHash{"bench"}, DrainerId{"bench"}, now});
  ensure(minted && *minted == MintAnswer::minted, "its key is open");
  const Start start{since_ms(ticked, seams), since_ms(began, seams)};
  ensure(store.dispatch().end_undispatched(row.execution, "timed", now).has_value(), "it is ended");
  return start;
}

int bench_gated(const std::string& folder) {
  Seams seams;
  const auto alone = new_store(folder + "/alone.db", seams);
  const auto beside = new_store(folder + "/beside.db", seams);
  const UtcTime now = seams.clock.utc_now();
  for (int i = 0; i < 999; ++i) {
    const NewExecution parked = execution_of(fmt::format("a{}", i), fmt::format("ref-{}", i), now);
    const auto closed = beside->gates().close({.key = parked.key,
                                               .until = now + std::chrono::hours{1},
                                               .first_seen = now,
                                               .last_seen = now},
                                              now);
    ensure(closed.has_value(), "a gate is closed");
    admit(*beside, parked);
  }
  std::vector<double> tick_alone, tick_beside, start_alone, start_beside;
  for (int round = 0; round < 200; ++round) {
    const Start one = start_of_last(*alone, round, seams);
    const Start among = start_of_last(*beside, round, seams);
    tick_alone.push_back(one.tick_ms);
    start_alone.push_back(one.from_admission_ms);
    tick_beside.push_back(among.tick_ms);
    start_beside.push_back(among.from_admission_ms);
  }
  const double tick = report("tick, alone", tick_alone);
  const double tick_of_many = report("tick, 999 gated", tick_beside);
  const double start = report("admission to mint, alone", start_alone);
  const double start_of_many = report("admission to mint, 999 gated", start_beside);
  fmt::print("a tick costs {:.2f} ms more, {:.1f} times as much; a start {:.1f} times\n",
             tick_of_many - tick, tick_of_many / tick, start_of_many / start);
  return 0;
}

}  // namespace
}  // namespace coderunner

int main(int argc, char** argv) {
  const std::span args{argv, static_cast<std::size_t>(argc)};
  const std::string which = args.size() > 2 ? args[1] : "";
  if (which == "tick")
    return coderunner::bench_tick(args[2], args.size() > 3 ? std::stoll(args[3]) : 1'000'000);
  if (which == "gated") return coderunner::bench_gated(args[2]);
  fmt::print(stderr, "usage: coderunner-bench tick FOLDER [ROWS] | gated FOLDER\n");
  return 2;
}
