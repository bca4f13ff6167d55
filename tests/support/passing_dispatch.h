// A store's dispatch face that passes every verb on to a memory store; what is under test overrides
// one.
#pragma once

#include "sim/memory_store.h"

namespace coderunner::fakes {

class PassingDispatch : public DispatchStore {
 public:
  explicit PassingDispatch(MemoryStore& truth) : truth_(truth) {}
  Result<std::vector<Lane>> lanes(int rows) override { return truth_.lanes(rows); }
  Result<std::vector<RunningRow>> running() override { return truth_.running(); }
  Result<std::vector<SlotUse>> slot_use(UtcTime since, UtcTime now) override {
    return truth_.slot_use(since, now);
  }
  Result<std::vector<GateRecord>> gate_records(UtcTime now) override {
    return truth_.gate_records(now);
  }
  Result<Standing> standing() override { return truth_.standing(); }
  Result<MintAnswer> mint(const Mint& mint) override { return truth_.mint(mint); }
  Result<RevokeAnswer> revoke(ExecutionId execution, const BackOff& back_off) override {
    return truth_.revoke(execution, back_off);
  }
  Result<int> revoke_all() override { return truth_.revoke_all(); }
  Result<bool> abandon(ExecutionId execution, const std::optional<RunId>& run,
                       const std::string& message, UtcTime now) override {
    return truth_.abandon(execution, run, message, now);
  }
  Result<bool> end_undispatched(ExecutionId execution, const std::string& message,
                                UtcTime now) override {
    return truth_.end_undispatched(execution, message, now);
  }
  Result<Done> heartbeat(const Heartbeat& beat) override { return truth_.heartbeat(beat); }

 protected:
  MemoryStore& truth_;
};

}  // namespace coderunner::fakes
