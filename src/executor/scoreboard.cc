#include "executor/scoreboard.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "base/ensure.h"

namespace coderunner::executor {
namespace {

constexpr std::size_t kRunIdBytes = 32;

struct Slot {
  std::atomic<std::int32_t> pid;
  std::atomic<std::int32_t> stage;
  std::atomic<std::int64_t> since_us;
  std::atomic<std::int64_t> execution;  // 0: not known
  std::atomic<std::int32_t> run_set;    // the text below is complete
  char run[kRunIdBytes];
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "shared between processes");

}  // namespace

struct Scoreboard::Board {
  std::atomic<std::int32_t> slots;
  std::atomic<std::uint64_t> max_children_reached;

  static std::size_t bytes_for(int slots) {
    return sizeof(Board) + static_cast<std::size_t>(slots) * sizeof(Slot);
  }
  // Zeroed memory of a memfd is the initial state of every field.
  Slot& slot(int at) {
    ensure(at >= 0 && at < slots.load(std::memory_order_relaxed), "no such scoreboard slot");
    return reinterpret_cast<Slot*>(this + 1)[at];
  }
};

Result<Scoreboard> Scoreboard::create(int slots) {
  Descriptor memfd{::memfd_create("coderunner-scoreboard", MFD_CLOEXEC)};
  if (!memfd.is_open() ||
      ::ftruncate(memfd.get(), static_cast<off_t>(Board::bytes_for(slots))) != 0)
    return fail(Failure::unavailable, std::string{"scoreboard: "} + std::strerror(errno));
  auto mapped = map(std::move(memfd));
  if (mapped) mapped->board_->slots.store(slots);
  return mapped;
}

Result<Scoreboard> Scoreboard::map(Descriptor memfd) {
  struct stat status {};
  if (::fstat(memfd.get(), &status) != 0 ||
      static_cast<std::size_t>(status.st_size) < sizeof(Board))
    return fail(Failure::internal, "the scoreboard's descriptor is not one");
  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memfd.get(), 0);
  if (memory == MAP_FAILED)
    return fail(Failure::unavailable, std::string{"scoreboard: "} + std::strerror(errno));
  return Scoreboard{std::move(memfd), static_cast<Board*>(memory), bytes};
}

Scoreboard::Scoreboard(Scoreboard&& other) noexcept
    : memfd_(std::move(other.memfd_)),
      board_(std::exchange(other.board_, nullptr)),
      bytes_(other.bytes_) {}

Scoreboard& Scoreboard::operator=(Scoreboard&& other) noexcept {
  std::swap(memfd_, other.memfd_);
  std::swap(board_, other.board_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Scoreboard::~Scoreboard() {
  if (board_ != nullptr) ::munmap(board_, bytes_);
}

int Scoreboard::slots() const { return board_->slots.load(); }

SlotView Scoreboard::read(int at) const {
  Slot& slot = board_->slot(at);
  SlotView view;
  view.pid = slot.pid.load();
  view.stage = static_cast<Stage>(slot.stage.load());
  view.since = MonoTime{std::chrono::microseconds{slot.since_us.load()}};
  if (slot.run_set.load(std::memory_order_acquire) != 0)
    view.run = RunId{std::string{slot.run, kRunIdBytes}};
  if (const std::int64_t execution = slot.execution.load(); view.run && execution != 0)
    view.execution = ExecutionId{execution};
  return view;
}

int Scoreboard::children() const {
  int count = 0;
  for (int at = 0; at < slots(); ++at)
    if (board_->slot(at).pid.load() != 0) ++count;
  return count;
}

int Scoreboard::running() const {
  int count = 0;
  for (int at = 0; at < slots(); ++at)
    if (const SlotView slot = read(at); slot.pid != 0 && slot.run) ++count;
  return count;
}

void Scoreboard::assign(int at, int pid) { board_->slot(at).pid.store(pid); }

void Scoreboard::clear(int at) {
  forget_run(at);
  Slot& slot = board_->slot(at);
  slot.stage.store(static_cast<std::int32_t>(Stage::idle));
  slot.since_us.store(0);
  slot.pid.store(0);
}

void Scoreboard::count_max_children_reached() { board_->max_children_reached.fetch_add(1); }

std::uint64_t Scoreboard::max_children_reached() const {
  return board_->max_children_reached.load();
}

void Scoreboard::enter(int at, Stage stage, MonoTime now) {
  Slot& slot = board_->slot(at);
  slot.since_us.store(now.time_since_epoch().count());
  slot.stage.store(static_cast<std::int32_t>(stage));
}

void Scoreboard::note_run(int at, const RunId& run) {
  ensure(run.value.size() == kRunIdBytes, "a run id has 32 hex digits");
  Slot& slot = board_->slot(at);
  slot.execution.store(0);
  std::copy(run.value.begin(), run.value.end(), slot.run);
  slot.run_set.store(1, std::memory_order_release);
}

void Scoreboard::note_execution(int at, ExecutionId execution) {
  board_->slot(at).execution.store(execution.value);
}

void Scoreboard::forget_run(int at) {
  Slot& slot = board_->slot(at);
  slot.run_set.store(0);
  slot.execution.store(0);
}

}  // namespace coderunner::executor
