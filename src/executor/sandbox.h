// What the zygote sets up once for all its scripts: namespaces, the compiled system call filter and
// its own loss of rights; and the jail each script process enters. Owned by the zygote.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/result.h"
#include "executor/descriptor.h"
#include "executor/jail.h"
#include "executor/namespaces.h"

namespace coderunner::executor {

class Sandbox {
 public:
  // Irreversible for this process; it must have one thread and no child. On a failure no script may
  // be run. A namespace that could not be entered is no failure: see namespaces().
  static Result<Sandbox> set_up();
  Sandbox(Sandbox&&) = default;
  Sandbox& operator=(Sandbox&&) = delete;
  ~Sandbox();

  // For a child of this process that keeps `socket`. The Sandbox must outlive its use.
  Jail jail(int socket, const ScriptLimits& limits) const;
  const Namespaces& namespaces() const { return namespaces_; }
  // The init of the scripts' pid namespace, a child of this process: with it they all die, and no
  // other can be forked. 0 where there is none.
  pid_t init() const { return init_; }

 private:
  Sandbox() = default;
  Result<Done> start_init();

  Namespaces namespaces_;
  std::optional<SyscallFilter> filter_;
  std::size_t memory_before_ = 0;
  pid_t init_ = 0;
  Descriptor init_lives_;  // its other end: the init's; closed, it exits
};

}  // namespace coderunner::executor
