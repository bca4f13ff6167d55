#include "domain/fair_share.h"

#include <algorithm>
#include <optional>

namespace coderunner {

void FairShare::rebuild(const std::vector<SlotUse>& recent) {
  shares_.clear();
  for (const SlotUse& use : recent) {
    Share& share = shares_[use.account];
    share.virtual_time += use.held;
    share.slot_time += use.held;
    share.active = true;  // until it is known to be idle
  }
}

void FairShare::hold(Span elapsed, const std::map<AccountId, int>& in_flight) {
  for (const auto& [account, slots] : in_flight) {
    Share& share = shares_[account];
    share.virtual_time += elapsed * slots;
    share.slot_time += elapsed * slots;
  }
}

void FairShare::set_active(const std::set<AccountId>& active) {
  std::optional<Span> smallest;
  for (auto& [account, share] : shares_) {
    share.active = share.active && active.contains(account);
    if (share.active)
      smallest = std::min(smallest.value_or(share.virtual_time), share.virtual_time);
  }
  if (!smallest) shares_.clear();  // nobody goes on: nobody owes anybody
  for (const AccountId& account : active) {
    Share& share = shares_[account];
    if (!share.active && smallest) share.virtual_time = std::max(share.virtual_time, *smallest);
    share.active = true;
  }
  // One that is neither active nor ahead of the others would come back at `smallest` anyway: forget
  // it.
  std::erase_if(shares_, [&](const auto& entry) {
    return !entry.second.active && smallest && entry.second.virtual_time <= *smallest;
  });
}

FairShare::Span FairShare::virtual_time(const AccountId& account) const {
  const auto found = shares_.find(account);
  return found == shares_.end() ? Span{0} : found->second.virtual_time;
}

FairShare::Span FairShare::slot_time(const AccountId& account) const {
  const auto found = shares_.find(account);
  return found == shares_.end() ? Span{0} : found->second.slot_time;
}

}  // namespace coderunner
