// Proof of an executor's death (rulings 2). `gone` only where the process that began a run is
// proved not to exist: same boot and pid namespace, and its pid is free or carries another start
// time. Anything else counts as alive.
#pragma once

#include "base/ids.h"

namespace coderunner {

enum class Liveness { gone, alive };

class ProcessProbe {
 public:
  virtual ~ProcessProbe() = default;
  virtual Liveness probe(const ExecutorId& executor) const = 0;
};

}  // namespace coderunner
