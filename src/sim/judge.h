// The checkers of a simulated run. It sees the true rows after every write and is told what really
// happened (which script started, which change reached the API), and keeps its own journal of both:
// nothing here believes the code under test. The invariants are those of ARCHITECTURE.md.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "seams/events.h"
#include "seams/store.h"
#include "services/admission.h"
#include "sim/memory_store.h"
#include "sim/world.h"

namespace coderunner::sim {

constexpr std::string_view kPlanted = "planted";  // the call of an old writer

struct Cause {  // of the write that has just happened
  ProcessRef process;
  std::string_view call;
};

class Judge final : public Events {
 public:
  Judge(World& world, MemoryStore& truth, GateStore& gates, bool gates_in_store);

  // ---- what clients see
  void submitted(const std::string& identifier, const Arrival& arrival);
  void answered(const std::string& identifier, const AdmissionAnswer& answer);

  // ---- what the store sees
  void wrote(const Cause& cause);
  void planted(ExecutionId execution, bool has_key);
  void paused(const AccountId& account, bool is_paused);  // the empty one: everybody
  void gates_read(const Process& reader, const std::vector<Gate>& closed);
  void running_read(const Process& reader);
  void heartbeat() { last_heartbeat_ = world_.now(); }
  std::int64_t rows_seen() const { return rows_seen_; }
  void lanes_read(std::int64_t rows_then) { lanes_read_at_ = rows_then; }
  void minted(const Process& by, const Mint& mint);
  void revoked(ExecutionId execution) { rows_[execution].may_begin = false; }
  void revoked_all();

  // ---- what the executor really does
  void script_started(const RunId& run, ExecutionId execution, MonoTime wall,
                      const ProcessRef& process);
  void script_ended(const RunId& run, const Outcome& outcome);
  void nothing_ran(const RunId& run);  // begun or not could not be told
  void announced(const RunId& run, int call);
  void sent(const RunId& run, int call) { runs_[run].sent.insert(call); }
  void effect_landed(const RunId& run, ExecutionId execution, int call);

  // ---- what the log sees
  void record(const Event& event) override;

  // ---- at points in time
  void check_reachable();
  bool has_drained() const { return unfinished_ == 0; }
  void check_end();

  const Arrival* arrival_of(ExecutionId execution) const;
  std::optional<ExecutionId> execution_of(JobId job) const;

 private:
  struct Row {  // as last seen, and its journal
    Execution last;
    int begun = 0;
    int ended = 0;
    int mints = 0;
    bool may_begin = false;  // minted, and nobody was told that it is revoked
    bool is_planted = false;
    bool has_key = true;
    bool is_given_up = false;  // no drainer was left to dispatch it (rulings 5)
    std::int64_t seen_at = 0;  // how many rows had been seen before it
    MonoTime seen_mono;
    bool was_quiet = false;  // its account had nothing queued or running
    std::size_t equals = 0;  // other accounts that wait and have had no slot yet either
  };
  struct Run {
    ExecutionId execution;
    MonoTime wall;
    ProcessRef process;
    std::optional<Outcome> outcome;
    bool nothing_ran = false;
    int reads_after_death = 0;  // of the running rows, by drainers that could have ended it
    std::set<int> sent;         // changes that have left for the API
    std::set<int> sending;      // announced while the row was its own
  };
  struct Submission {
    const Arrival* arrival = nullptr;
    std::optional<AdmissionAnswer> answer;
    std::vector<ExecutionId> rows;
  };

  void see(const Execution& row, const Cause& cause);
  void appeared(const Execution& row, const Cause& cause);
  void changed(Row& known, const Execution& row, const Cause& cause);
  void began(Row& known, const Execution& row, const Cause& cause);
  void ended(Row& known, const Execution& row, const Cause& cause);
  void ended_queued(Row& known, const Execution& row, const Cause& cause);
  void check_ended_from_outside(const Execution& row, const Cause& cause);
  void check_sent(const Execution& row, const Run& run);
  void check_caps(const Execution& row);
  void check_wait(const Row& known);
  std::size_t unserved_accounts() const;
  void check_order(const Execution& row);
  void check_gate(const Execution& row, const Process& by, const Mint& mint);
  void check_submission(const std::string& identifier, const Submission& submission);
  void check_finished(const Row& row);
  void check_text(std::string_view where, std::string_view text);
  void must(bool holds, std::string_view invariant, ExecutionId execution, std::string_view what);

  World& world_;
  MemoryStore& truth_;
  GateStore& gates_;
  bool gates_in_store_;
  std::map<std::string, std::map<ApiKeyHash, UtcTime>> read_gates_;  // by each drainer's life
  std::set<AccountId> paused_;
  std::map<ExecutionId, Row> rows_;
  std::map<RunId, Run> runs_;
  std::map<ExecutionId, std::vector<RunId>> scripts_;  // that really started
  std::map<std::string, Submission> submissions_;      // by identifier
  std::set<std::pair<ExecutionId, int>> effects_;
  std::int64_t rows_seen_ = 0;
  std::int64_t lanes_read_at_ = 0;
  int unfinished_ = 0;
  MonoTime last_heartbeat_ = VirtualClock::kStart;
};

}  // namespace coderunner::sim
