// The drainer's one call: POST jobId and asyncNonce to an executor (contract section 3). Never
// blocks. Used by the drainer's thread only. Every started dispatch is answered exactly once, if
// only by its own time limit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"

namespace coderunner {

struct Dispatch {
  ExecutionId execution;
  JobId job;
  Nonce nonce;
};

struct DispatchAnswer {
  ExecutionId execution;
  std::optional<int> http_status;  // absent: no complete answer
  bool never_sent = false;         // proved: refused or unresolved, no byte reached an executor
  std::string error;               // what went wrong, for people; empty on a complete answer
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual void start(const Dispatch& dispatch) = 0;
  virtual std::vector<DispatchAnswer> poll() = 0;
};

}  // namespace coderunner
