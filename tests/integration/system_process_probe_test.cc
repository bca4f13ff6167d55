#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>

#include "adapters/system/file.h"
#include "adapters/system/process_identity.h"

namespace coderunner {
namespace {

// A child that waits until it is killed; its corpse stays until reap().
class Child {
 public:
  Child() : pid_(fork()) {
    if (pid_ != 0) return;
    for (;;) ::pause();
  }
  ~Child() { reap(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  ProcessIdentity identity() const {
    ProcessIdentity process = *own_identity();
    process.pid = pid_;
    const auto stat = read_file("/proc/" + std::to_string(pid_) + "/stat", 4096);
    process.start_time = parse_process_stat(*stat)->start_time;
    return process;
  }
  void kill_without_collecting() const {
    kill(pid_, SIGKILL);
    siginfo_t dead{};
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(pid_), &dead, WEXITED | WNOWAIT), 0);
  }
  void reap() {
    if (collected_) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    collected_ = true;
  }

 private:
  pid_t pid_;
  bool collected_ = false;
};

class SystemProcessProbeTest : public testing::Test {
 protected:
  Liveness probe(const ProcessIdentity& process) const {
    return probe_.probe(to_executor_id(process));
  }
  SystemProcessProbe probe_{*own_identity()};
};

TEST_F(SystemProcessProbeTest, FindsThisProcessAlive) {
  EXPECT_EQ(probe(*own_identity()), Liveness::alive);
}

TEST_F(SystemProcessProbeTest, FindsAChildAliveUntilItIsKilledAndCollected) {
  Child child;
  const ProcessIdentity process = child.identity();
  EXPECT_EQ(probe(process), Liveness::alive);
  child.reap();
  EXPECT_EQ(probe(process), Liveness::gone);
}

TEST_F(SystemProcessProbeTest, FindsACorpseNobodyHasCollectedGone) {
  Child child;
  const ProcessIdentity process = child.identity();
  child.kill_without_collecting();
  EXPECT_EQ(probe(process), Liveness::gone);
}

TEST_F(SystemProcessProbeTest, FindsAStoppedProcessAlive) {
  Child child;
  const ProcessIdentity process = child.identity();
  kill(process.pid, SIGSTOP);
  EXPECT_EQ(probe(process), Liveness::alive);
}

TEST_F(SystemProcessProbeTest, TakesAPidWithAnotherStartTimeForAnotherProcess) {
  Child child;
  ProcessIdentity earlier = child.identity();
  --earlier.start_time;
  EXPECT_EQ(probe(earlier), Liveness::gone);
}

TEST_F(SystemProcessProbeTest, CountsWhatItCannotJudgeAsAlive) {
  Child child;
  const ProcessIdentity process = child.identity();
  child.reap();
  ProcessIdentity elsewhere = process;
  elsewhere.host += "-2";
  EXPECT_EQ(probe(elsewhere), Liveness::alive);
  ProcessIdentity before_boot = process;
  before_boot.boot_id = "another";
  EXPECT_EQ(probe(before_boot), Liveness::alive);
  ProcessIdentity contained = process;
  contained.pid_namespace = "1";
  EXPECT_EQ(probe(contained), Liveness::alive);
  EXPECT_EQ(probe_.probe({"php-fpm"}), Liveness::alive);
  EXPECT_EQ(probe_.probe({""}), Liveness::alive);
}

}  // namespace
}  // namespace coderunner
