// Who an executor's process is, so that its death can be proved later (rulings 2): written into the
// row at begin, probed by the drainer and the reaper. Reads /proc of this machine only; whatever it
// cannot read counts as alive.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "seams/process_probe.h"

namespace coderunner {

struct ProcessIdentity {  // of one process, on one boot of one machine
  std::string host;
  std::string boot_id;
  std::string pid_namespace;  // the inode
  int pid = 0;
  std::uint64_t start_time = 0;  // clock ticks since boot: field 22 of /proc/PID/stat
  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

// "host|boot id|pid namespace inode|pid|start time" (contract section 3); nullopt on anything else.
ExecutorId to_executor_id(const ProcessIdentity& identity);
std::optional<ProcessIdentity> parse_executor_id(const ExecutorId& id);

// The calling process. unavailable where /proc cannot be read.
Result<ProcessIdentity> own_identity();

struct ProcessStat {  // what of /proc/PID/stat tells one process from the next with its pid
  char state = '?';
  std::int64_t threads = 0;
  std::uint64_t start_time = 0;
  friend bool operator==(const ProcessStat&, const ProcessStat&) = default;
};
// The command's name, in parentheses, may itself hold parentheses, spaces and newlines.
std::optional<ProcessStat> parse_process_stat(std::string_view text);

class SystemProcessProbe final : public ProcessProbe {
 public:
  // `self` gives the host, boot and pid namespace whose processes can be judged from here.
  explicit SystemProcessProbe(ProcessIdentity self) : self_(std::move(self)) {}
  Liveness probe(const ExecutorId& executor) const override;

 private:
  ProcessIdentity self_;
};

}  // namespace coderunner
