// An arbitrary input of the plan: lanes with rows in flight or backing off, runs of others, gates,
// probes, pauses, caps, an executor in trouble, and slot time used before.
#pragma once

#include <iosfwd>
#include <vector>

#include "domain/fair_share.h"
#include "domain/lane_plan.h"

namespace coderunner {

struct PlanCase {
  PlanInput input;
  std::vector<SlotUse> used;

  FairShare shares() const;
  Plan plan() const { return plan_lanes(input, shares()); }
};
std::ostream& operator<<(std::ostream& out, const PlanCase& drawn);
std::ostream& operator<<(std::ostream& out, const Plan& plan);

// Through rapidcheck's generators, inside a property: what breaks it shrinks draw by draw.
PlanCase draw_plan_case();

}  // namespace coderunner
