// The system calls a script process may make: an allow list in the kernel's own form (seccomp BPF),
// compiled once by the zygote and loaded by every script process. Whatever is not on it kills the
// process with SIGSYS, so that its row says so.
#pragma once

#include <linux/filter.h>

#include <vector>

#include "base/result.h"

namespace coderunner::executor {

class SyscallFilter {
 public:
  // For a process whose only descriptor is kJailSocket. unavailable: no memory, or an architecture
  // libseccomp does not know.
  static Result<SyscallFilter> compile();

  // Irreversible, for this thread and what it forks. Needs no_new_privs. False with errno set.
  bool load() const;

 private:
  explicit SyscallFilter(std::vector<sock_filter> program) : program_(std::move(program)) {}
  std::vector<sock_filter> program_;
};

}  // namespace coderunner::executor
