// What a tick costs beside a long queue: coderunner-bench tick FOLDER [ROWS] fills two stores in
// FOLDER (which it leaves there), 1,000 and ROWS queued rows in 20 lanes, and times lanes, plan and
// one mint in turn on both.
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

std::unique_ptr<sql::SqlStore> filled_store(const std::string& path, std::int64_t rows,
                                            Seams& seams) {
  sql::StoreOptions options{.url = "sqlite:" + path, .create = true, .pause = [](Millis) {}};
  options.writer = sql::Writer::caller;
  auto store = sql::open_store(options, seams.clock, seams.entropy, seams.events);
  ensure(store.has_value(), "the folder can be written");
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
  return *std::move(store);
}

double tick_ms(sql::SqlStore& store, Seams& seams) {
  const MonoTime began = seams.clock.mono_now();
  PlanInput input{.lanes = *store.dispatch().lanes(2), .now = seams.clock.utc_now()};
  const Plan plan = plan_lanes(input, FairShare{});
  const LaneRow& row = plan.picks.front().row;
  const auto minted = store.dispatch().mint(
      {row.execution, row.job, NonceHash{"bench"}, DrainerId{"bench"}, input.now});
  ensure(minted && *minted == MintAnswer::minted, "the head of a lane is queued");
  return std::chrono::duration<double, std::milli>(seams.clock.mono_now() - began).count();
}

double report(const char* name, std::vector<double> times) {
  std::ranges::sort(times);
  const double median = times[times.size() / 2];
  fmt::print("{:>9} rows: median {:.3f} ms, p5 {:.3f}, p95 {:.3f}\n", name, median,
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
  const double few = report("1000", small_ms);
  const double many = report(std::to_string(rows).c_str(), large_ms);
  fmt::print("ratio {:.2f} (at most 1.5)\n", many / few);
  return many <= few * 1.5 ? 0 : 1;
}

}  // namespace
}  // namespace coderunner

int main(int argc, char** argv) {
  const std::span args{argv, static_cast<std::size_t>(argc)};
  if (args.size() < 3 || std::string{args[1]} != "tick") {
    fmt::print(stderr, "usage: coderunner-bench tick FOLDER [ROWS]\n");
    return 2;
  }
  return coderunner::bench_tick(args[2], args.size() > 3 ? std::stoll(args[3]) : 1'000'000);
}
