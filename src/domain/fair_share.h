// Start-time fair queueing over slot-seconds (rulings 4): an account's virtual time grows by the
// slot time it holds; one that becomes active again starts no earlier than the smallest virtual
// time among the active. Owned by the drainer, read by the plan; rebuilt at start from stored rows,
// so nothing here is ever the truth about occupancy.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "domain/execution.h"

namespace coderunner {

class FairShare {
 public:
  using Span = MonoClock::duration;

  // Forgets everything and starts each account at the slot time it held recently.
  void rebuild(const std::vector<SlotUse>& recent);

  // `elapsed` has passed during which each account held `in_flight` slots.
  void hold(Span elapsed, const std::map<AccountId, int>& in_flight);

  // The accounts that compete from now on: an eligible row or a run. A parked account is not among
  // them, and one that comes (back) brings no credit with it. Where none of them competed before,
  // all start equal: slots used while nobody else wanted them are no debt.
  void set_active(const std::set<AccountId>& active);

  Span virtual_time(const AccountId& account) const;
  Span slot_time(const AccountId& account) const;

 private:
  struct Share {
    Span virtual_time{0};
    Span slot_time{0};
    bool active = false;
  };
  std::map<AccountId, Share> shares_;
};

}  // namespace coderunner
