// A pool under test: the launcher in this process, its folder, its processes as /proc shows them,
// and the drainer's side of a dispatch.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/system/system_clock.h"
#include "executor/descriptor.h"
#include "executor/launcher.h"
#include "tests/integration/executor/file_ledger.h"
#include "tests/integration/executor/roles_under_test.h"
#include "tests/support/fakes.h"

namespace coderunner::executor_test {

// Polls `holds` for at most `limit`.
bool eventually(const std::function<bool()>& holds, Millis limit = Millis{60'000});

struct Reply {
  int status = 0;  // 0: the connection closed without an answer
  std::string body;
};

struct ProcessEntry {
  int pid = 0;
  int parent = 0;
  char state = '?';
  std::string name;
};

class PoolTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Listens on a loopback port and starts a pool on it, as `serve` does.
  void start_pool();
  enum class Parent { ordinary, lone_root };  // the latter: a root who may become nobody else
  void start_pool_under_another_process(Parent parent = Parent::ordinary);  // serve_pid_

  executor::Descriptor connect() const;
  // A dispatch that is under way: the answer is read from its socket.
  executor::Descriptor post(int job, const std::string& nonce = {}) const;
  static std::optional<Reply> read_reply(const executor::Descriptor& socket,
                                         Millis limit = Millis{60'000});
  Reply run(int job) const { return read_reply(post(job)).value_or(Reply{}); }

  // Processes of this pool's generations, by name: "cr-master", "cr-worker", ...
  std::vector<ProcessEntry> processes(const std::string& name = {}) const;
  int only(const std::string& name) const;  // waits for exactly one; its pid
  bool has_begun(int job) const {
    return eventually([&] { return !ledger_->run_of(job).empty(); });
  }
  bool has_ended(int job, Millis limit = Millis{60'000}) const {
    return eventually([&] { return !ledger_->outcome(job).empty(); }, limit);
  }
  // Soon: well before anything but a signal would have ended it.
  bool no_script_is_left() const {
    return eventually([&] { return processes("cr-script").empty(); }, Millis{20'000});
  }
  bool all_gone(Millis limit = Millis{60'000}) const {
    return eventually([&] { return processes().empty(); }, limit);
  }
  std::string events() const { return read_text(setup_.folder / "events"); }

  PoolSetup setup_;
  SystemClock clock_;
  fakes::RecordedEvents told_;
  std::unique_ptr<FileLedger> ledger_;
  std::unique_ptr<executor::Launcher> launcher_;
  int serve_pid_ = 0;

 private:
  void listen();
  executor::Descriptor listener_;
  int port_ = 0;
};

}  // namespace coderunner::executor_test
