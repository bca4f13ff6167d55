// Cuts a failing scenario down: takes parts out, in halves and then one by one, and keeps what
// still violates the same invariant.
#include <algorithm>
#include <utility>

#include "sim/simulation.h"

namespace coderunner::sim {
namespace {

constexpr int kMaxTries = 1500;  // of a few milliseconds each

class Shrinker {
 public:
  Shrinker(Scenario failing, const SimulationOptions& options)
      : best_(std::move(failing)), options_(options) {
    options_.keeps_trace = false;
    const auto violation = simulate(best_, options_).violation;
    if (violation) invariant_ = violation->invariant;
  }

  Scenario run() {
    if (invariant_.empty()) return std::move(best_);
    for (bool smaller = true; smaller && tries_ < kMaxTries;) {
      smaller = cut(&Scenario::call_faults);
      smaller = cut(&Scenario::happenings) || smaller;
      smaller = cut(&Scenario::arrivals) || smaller;
      smaller = simplify_arrivals() || smaller;
      smaller = simplify_rest() || smaller;
    }
    return std::move(best_);
  }

 private:
  bool keeps_failing(const Scenario& candidate) {
    if (++tries_ > kMaxTries) return false;
    const auto violation = simulate(candidate, options_).violation;
    if (!violation || violation->invariant != invariant_) return false;
    best_ = candidate;
    return true;
  }

  template <class Part>
  bool cut(std::vector<Part> Scenario::*parts) {
    bool any = false;
    for (std::size_t size = std::max<std::size_t>((best_.*parts).size() / 2, 1);; size /= 2) {
      for (std::size_t at = 0; at < (best_.*parts).size();) {
        Scenario candidate = best_;
        auto& all = candidate.*parts;
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(at);
        const auto left = static_cast<std::size_t>(all.end() - first);
        all.erase(first, first + static_cast<std::ptrdiff_t>(std::min(size, left)));
        if (keeps_failing(candidate))
          any = true;
        else
          at += size;
      }
      if (size <= 1) return any;
    }
  }

  bool simplify_arrivals() {
    bool any = false;
    for (std::size_t i = 0; i < best_.arrivals.size(); ++i) {
      const auto with = [&](auto&& change) {
        Scenario candidate = best_;
        if (change(candidate.arrivals[i])) any = keeps_failing(candidate) || any;
      };
      with([](Arrival& is) { return !std::exchange(is.fates, {}).empty(); });
      with([](Arrival& is) {
        if (is.fates.empty()) return false;
        is.fates.pop_back();
        return true;
      });
      for (std::size_t at = 0; at < best_.arrivals[i].fates.size(); ++at)
        with([at](Arrival& is) { return simplify(is.fates[at]); });
      with([](Arrival& is) { return !std::exchange(is.script.steps, {}).empty(); });
      for (std::size_t at = best_.arrivals[i].script.steps.size(); at-- > 0;)
        with([at](Arrival& is) {
          if (at >= is.script.steps.size()) return false;
          is.script.steps.erase(is.script.steps.begin() + static_cast<std::ptrdiff_t>(at));
          return true;
        });
      with([](Arrival& is) { return std::exchange(is.script.fails, false); });
      with([](Arrival& is) { return std::exchange(is.again_after, {}).has_value(); });
      with([](Arrival& is) { return std::exchange(is.commit_takes, Millis{0}) > Millis{0}; });
      with([](Arrival& is) { return shorten(is.script.last_think); });
    }
    return any;
  }

  static bool simplify(DispatchFate& fate) {
    const bool is_plain =
        fate.request == RequestFate::arrives && fate.answer == AnswerFate::arrives;
    const bool shorter = shorten(fate.travel);
    if (is_plain) return shorter;
    fate = {};
    return true;
  }

  // To a round tenth of a second: what has to last longer will not fail any more.
  static bool shorten(Millis& duration) {
    return std::exchange(duration, std::min(duration, Millis{100})) > Millis{100};
  }

  bool simplify_rest() {
    bool any = false;
    const auto with = [&](auto&& change) {
      Scenario candidate = best_;
      if (change(candidate)) any = keeps_failing(candidate) || any;
    };
    for (std::size_t at = 0; at < best_.call_faults.size(); ++at)
      with([at](Scenario& is) { return shorten(is.call_faults[at].pause); });
    for (std::size_t at = 0; at < best_.happenings.size(); ++at)
      with([at](Scenario& is) { return shorten(is.happenings[at].lasts); });
    with([](Scenario& is) { return !std::exchange(is.settings.can_probe, true); });
    with([](Scenario& is) { return std::exchange(is.settings.buries, false); });
    with([](Scenario& is) { return std::exchange(is.settings.has_master, false); });
    with([](Scenario& is) { return !std::exchange(is.settings.gate_in_store, true); });
    with([](Scenario& is) { return std::exchange(is.settings.max_children, 8) != 8; });
    return any;
  }

  Scenario best_;
  SimulationOptions options_;
  std::string invariant_;
  int tries_ = 0;
};

}  // namespace

Scenario shrink(const Scenario& failing, const SimulationOptions& options) {
  return Shrinker{failing, options}.run();
}

}  // namespace coderunner::sim
