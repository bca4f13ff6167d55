// The road between one drainer and the executor: each dispatch meets the fate its arrival carries.
// Dies with its drainer; what it sent travels on.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "seams/transport.h"
#include "sim/virtual_executor.h"

namespace coderunner::sim {

class VirtualTransport final : public Transport {
 public:
  VirtualTransport(Shared& shared, VirtualExecutor& executor, const Secrets& secrets,
                   ProcessRef drainer, std::function<void()> wake);

  void start(const Dispatch& dispatch) override;
  std::vector<DispatchAnswer> poll() override;

 private:
  struct Connection {
    ExecutionId execution;
    DispatchFate fate;
    bool is_open = true;
  };
  using ConnectionRef = std::shared_ptr<Connection>;

  DispatchFate next_fate(ExecutionId execution);
  void send(const ConnectionRef& connection, const Request& request);
  void hear(const ConnectionRef& connection, Reply reply);
  void answer_after(Millis delay, const ConnectionRef& connection, DispatchAnswer answer);
  void deliver(Connection& connection, const DispatchAnswer& answer);

  Shared& shared_;
  VirtualExecutor& executor_;
  const Secrets& secrets_;
  ProcessRef drainer_;
  std::function<void()> wake_;
  std::vector<DispatchAnswer> answers_;
};

}  // namespace coderunner::sim
