// The plan against the contract, on arbitrary inputs: what it never does, what it always says.
#include <algorithm>
#include <map>
#include <set>

#include "tests/property/plan_case.h"
#include "tests/property/seeded.h"

namespace coderunner {
namespace {

template <class Property>
void expect_of_plans(const Property& property) {
  expect_always([&property] {
    const PlanCase drawn = draw_plan_case();
    RC_LOG() << drawn;
    property(drawn.input, drawn.plan(), drawn);
  });
}

std::set<ExecutionId> ids_in_flight(const PlanInput& input) {
  std::set<ExecutionId> ids;
  for (const Occupied& one : input.in_flight) ids.insert(one.execution);
  return ids;
}

int cap_of(const PlanInput& input, const AccountId& account) {
  const auto own = input.per_account.find(account);
  return own != input.per_account.end() ? own->second : input.limits.per_account;
}

bool is_gated(const PlanInput& input, const std::optional<ApiKeyHash>& key) {
  const auto gate = key ? input.gates.find(*key) : input.gates.end();
  return gate != input.gates.end() && gate->second > input.now;
}

bool is_paused(const PlanInput& input, const AccountId& account) {
  return input.everybody_paused || input.paused.contains(account);
}

bool backs_off(const PlanInput& input, const LaneRow& row) {
  return row.not_before && *row.not_before > input.now &&
         *row.not_before <= input.now + limits::kDispatchBackOffMax;
}

bool is_executor_down(const PlanInput& input) {
  return input.executor_down_until && *input.executor_down_until > input.now;
}

// The slots as they are when some of the picks have been started.
struct Slots {
  explicit Slots(const PlanInput& input) : free(input.limits.concurrency) {
    for (const Occupied& one : input.in_flight) take(one.account, one.key);
  }
  void take(const AccountId& account, const std::optional<ApiKeyHash>& key) {
    --free;
    ++of_account[account];
    if (key) ++of_key[*key];
  }
  int held_by(const AccountId& account) const {
    const auto found = of_account.find(account);
    return found != of_account.end() ? found->second : 0;
  }
  bool has_run(const std::optional<ApiKeyHash>& key) const { return key && of_key.contains(*key); }

  int free;
  std::map<AccountId, int> of_account;
  std::map<ApiKeyHash, int> of_key;
};

Slots slots_after(const PlanInput& input, const Plan& plan) {
  Slots slots{input};
  for (const Pick& pick : plan.picks) slots.take(pick.account, pick.key);
  return slots;
}

// The rows of a lane that are neither in flight nor picked.
std::vector<LaneRow> left_of(const Lane& lane, const PlanInput& input, const Plan& plan) {
  std::set<ExecutionId> gone = ids_in_flight(input);
  for (const Pick& pick : plan.picks) gone.insert(pick.row.execution);
  std::vector<LaneRow> left;
  std::ranges::copy_if(lane.rows, std::back_inserter(left),
                       [&gone](const LaneRow& row) { return !gone.contains(row.execution); });
  return left;
}

bool is_limited(const PlanInput& input, const std::optional<ApiKeyHash>& key) {
  return key && input.limited.contains(*key) && input.limits.concurrency > 1;
}

// Contract section 4: the first that holds.
QueuedReason first_reason(const PlanInput& input, const Plan& plan, const Lane& lane,
                          const LaneRow& head) {
  const Slots slots = slots_after(input, plan);
  const bool has_tried = input.most_picks && std::ssize(plan.picks) >= *input.most_picks;
  if (is_paused(input, lane.account)) return QueuedReason::paused;
  if (is_gated(input, lane.key)) return QueuedReason::key_gated;
  if (lane.key && input.probing.contains(*lane.key) && slots.has_run(lane.key))
    return QueuedReason::key_probing;
  if (is_executor_down(input) || backs_off(input, head) || has_tried)
    return QueuedReason::executor_unavailable;
  if (slots.held_by(lane.account) >= cap_of(input, lane.account))
    return QueuedReason::account_at_cap;
  if (is_limited(input, lane.key) && slots.free == 1) return QueuedReason::last_slot_reserved;
  if (slots.free <= 0) return QueuedReason::no_free_slot;
  return QueuedReason::next;
}

TEST(AnyPlan, NeverTakesMoreThanTheFreeSlotsOrAnAccountsCap) {
  expect_of_plans([](const PlanInput& input, const Plan& plan, const PlanCase&) {
    Slots slots{input};
    for (const Pick& pick : plan.picks) {
      RC_ASSERT(slots.free > 0);
      RC_ASSERT(slots.held_by(pick.account) < cap_of(input, pick.account));
      slots.take(pick.account, pick.key);
    }
    RC_ASSERT((!input.most_picks || std::ssize(plan.picks) <= *input.most_picks));
  });
}

TEST(AnyPlan, NeverPicksWhatIsPausedGatedOrBackingOff) {
  expect_of_plans([](const PlanInput& input, const Plan& plan, const PlanCase&) {
    for (const Pick& pick : plan.picks) {
      RC_ASSERT(!is_paused(input, pick.account));
      RC_ASSERT(!is_gated(input, pick.key));
      RC_ASSERT(!backs_off(input, pick.row));
      RC_ASSERT(!is_executor_down(input));
    }
  });
}

TEST(AnyPlan, NeverPicksWhatIsInFlightAndServesEachLaneInItsOrder) {
  expect_of_plans([](const PlanInput& input, const Plan& plan, const PlanCase&) {
    const std::set<ExecutionId> in_flight = ids_in_flight(input);
    for (const Lane& lane : input.lanes) {
      std::vector<LaneRow> picked, waiting;
      for (const Pick& pick : plan.picks)
        if (pick.account == lane.account && pick.key == lane.key) picked.push_back(pick.row);
      for (const LaneRow& row : lane.rows)
        if (!in_flight.contains(row.execution)) waiting.push_back(row);
      RC_ASSERT(picked.size() <= waiting.size());
      waiting.resize(picked.size());
      RC_ASSERT(picked == waiting);
    }
  });
}

TEST(AnyPlan, StartsNothingOfAProbingKeyThatHasARun) {
  expect_of_plans([](const PlanInput& input, const Plan& plan, const PlanCase&) {
    Slots slots{input};
    for (const Pick& pick : plan.picks) {
      const bool probes = pick.key && input.probing.contains(*pick.key);
      RC_ASSERT(!(probes && slots.has_run(pick.key)));
      slots.take(pick.account, pick.key);
    }
  });
}

TEST(AnyPlan, GivesTheLastFreeSlotToNoLimitedKey) {
  expect_of_plans([](const PlanInput& input, const Plan& plan, const PlanCase&) {
    Slots slots{input};
    for (const Pick& pick : plan.picks) {
      RC_ASSERT(!(is_limited(input, pick.key) && slots.free == 1));
      slots.take(pick.account, pick.key);
    }
  });
}

TEST(AnyPlan, SaysOfEachLaneWithARowLeftTheFirstReasonThatHolds) {
  expect_of_plans([](const PlanInput& input, const Plan& plan, const PlanCase&) {
    for (const Lane& lane : input.lanes) {
      std::vector<QueuedReason> said;
      for (const LaneSkip& skip : plan.skips)
        if (skip.account == lane.account && skip.key == lane.key) said.push_back(skip.reason);
      const std::vector<LaneRow> left = left_of(lane, input, plan);
      if (left.empty())
        RC_ASSERT(said.empty());
      else
        RC_ASSERT(said == std::vector{first_reason(input, plan, lane, left.front())});
    }
  });
}

TEST(AnyPlan, LeavesASlotFreeOnlyWhereNoLaneCouldTakeIt) {
  expect_of_plans([](const PlanInput& input, const Plan& plan, const PlanCase&) {
    for (const Lane& lane : input.lanes) {
      const std::vector<LaneRow> left = left_of(lane, input, plan);
      if (!left.empty())
        RC_ASSERT(first_reason(input, plan, lane, left.front()) != QueuedReason::next);
    }
    const bool says_full = std::ranges::any_of(
        plan.skips, [](const LaneSkip& skip) { return skip.reason == QueuedReason::no_free_slot; });
    if (says_full) RC_ASSERT(slots_after(input, plan).free <= 0);
  });
}

TEST(AnyPlan, WakesAtTheEarliestTimeAtWhichAReasonEnds) {
  expect_of_plans([](const PlanInput& input, const Plan& plan, const PlanCase&) {
    std::optional<UtcTime> earliest;
    for (const LaneSkip& skip : plan.skips) {
      if (skip.reason == QueuedReason::key_gated)
        RC_ASSERT(skip.until == input.gates.at(*skip.key));
      if (skip.until) RC_ASSERT(*skip.until > input.now);
      if (skip.until && (!earliest || *skip.until < *earliest)) earliest = skip.until;
    }
    RC_ASSERT(plan.next_change == earliest);
  });
}

TEST(AnyPlan, IsTheSameEachTimeAndInWhateverOrderTheLanesCome) {
  expect_of_plans([](const PlanInput&, const Plan& plan, const PlanCase& drawn) {
    RC_ASSERT(drawn.plan().picks == plan.picks);
    PlanCase turned = drawn;
    std::ranges::reverse(turned.input.lanes);
    RC_ASSERT(turned.plan().picks == plan.picks);
  });
}

// A lane that waits for a time or an operator is as good as absent, also to its own account.
TEST(AnyPlan, PicksTheSameWhetherOrNotParkedLanesAreThere) {
  expect_of_plans([](const PlanInput& input, const Plan& plan, const PlanCase& drawn) {
    PlanCase without = drawn;
    std::erase_if(without.input.lanes, [&input](const Lane& lane) {
      return is_paused(input, lane.account) || is_gated(input, lane.key);
    });
    RC_ASSERT(without.plan().picks == plan.picks);
  });
}

// Of the lanes that could take the slot, in the order that rulings 4 names.
TEST(AnyPlan, GivesEachSlotToTheOneWhoseTurnItIs) {
  expect_of_plans([](const PlanInput& input, const Plan& plan, const PlanCase& drawn) {
    const FairShare shares = drawn.shares();
    Slots slots{input};
    Plan so_far;
    const auto rank = [&](const AccountId& account, const LaneRow& row) {
      const bool fair = input.limits.order == Order::fair;
      return std::tuple{fair ? shares.virtual_time(account) : FairShare::Span{},
                        fair ? slots.held_by(account) : 0,
                        fair ? shares.slot_time(account) : FairShare::Span{}, row.queued_at,
                        row.execution};
    };
    for (const Pick& pick : plan.picks) {
      for (const Lane& lane : input.lanes) {
        const std::vector<LaneRow> left = left_of(lane, input, so_far);
        if (left.empty() || first_reason(input, so_far, lane, left.front()) != QueuedReason::next)
          continue;
        RC_ASSERT(rank(pick.account, pick.row) <= rank(lane.account, left.front()));
      }
      so_far.picks.push_back(pick);
      slots.take(pick.account, pick.key);
    }
  });
}

// The generator itself: a property over plans that pick nothing would hold of anything.
TEST(TheDrawnCases, MeetEveryReasonAndPickOften) {
  std::map<QueuedReason, int> met;
  int picks = 0;
  expect_of_plans([&](const PlanInput&, const Plan& plan, const PlanCase&) {
    picks += static_cast<int>(plan.picks.size());
    for (const LaneSkip& skip : plan.skips) ++met[skip.reason];
  });
  EXPECT_GT(picks, 500);
  for (const QueuedReason reason :
       {QueuedReason::paused, QueuedReason::key_gated, QueuedReason::key_probing,
        QueuedReason::executor_unavailable, QueuedReason::account_at_cap,
        QueuedReason::last_slot_reserved, QueuedReason::no_free_slot})
    EXPECT_GT(met[reason], 20) << to_text(reason);
}

}  // namespace
}  // namespace coderunner
