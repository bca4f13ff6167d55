// Shared memory in which each worker writes what it is at, so that the master sees a stuck or dead
// one without asking it, and `serve` can count children. One slot a worker, written by it alone
// (the master clears it); never waits, never allocates after mapping.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "executor/descriptor.h"

namespace coderunner::executor {

enum class Stage : std::int32_t {
  idle,       // waits for a connection
  reading,    // the request arrives
  spawning,   // asks for a script process
  beginning,  // spends the nonce
  running,    // the script runs
  finishing,  // writes the outcome, entered anew with each try: as long as the store is away
};

struct SlotView {
  int pid = 0;  // 0: no worker
  Stage stage = Stage::idle;
  MonoTime since{};                      // of the stage
  std::optional<RunId> run;              // set before begin, until the row is finished
  std::optional<ExecutionId> execution;  // of that run; absent until begin has read the row
  friend bool operator==(const SlotView&, const SlotView&) = default;
};

class Scoreboard {
 public:
  // A new one in a memfd, with all slots empty.
  static Result<Scoreboard> create(int slots);
  // The one behind `memfd` (taken over).
  static Result<Scoreboard> map(Descriptor memfd);
  Scoreboard(Scoreboard&& other) noexcept;
  Scoreboard& operator=(Scoreboard&& other) noexcept;
  ~Scoreboard();

  int descriptor() const { return memfd_.get(); }
  int slots() const;
  SlotView read(int slot) const;
  int children() const;  // slots with a worker
  int running() const;   // those of them with a run that has not ended

  // The master's.
  void assign(int slot, int pid);
  void clear(int slot);
  void count_max_children_reached();
  std::uint64_t max_children_reached() const;

  // The worker's.
  void enter(int slot, Stage stage, MonoTime now);
  void note_run(int slot, const RunId& run);
  void note_execution(int slot, ExecutionId execution);
  void forget_run(int slot);

 private:
  struct Board;
  Scoreboard(Descriptor memfd, Board* board, std::size_t bytes)
      : memfd_(std::move(memfd)), board_(board), bytes_(bytes) {}

  Descriptor memfd_;
  Board* board_ = nullptr;
  std::size_t bytes_ = 0;
};

struct WorkerSlot {
  Scoreboard& board;
  int number = 0;
};

}  // namespace coderunner::executor
