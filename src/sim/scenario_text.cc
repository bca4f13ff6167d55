#include <fmt/format.h>

#include <array>

#include "sim/scenario.h"

namespace coderunner::sim {
namespace {

constexpr std::array<std::string_view, kRoles> kRoleWords{"admission", "drainer", "worker",
                                                          "reaper"};
constexpr std::array<std::string_view, kCallFaultKinds> kCallFaultWords{
    "unavailable", "unknown_done", "unknown_not_done", "crash_before",
    "crash_after", "pause_before", "pause_after"};
constexpr std::array<std::string_view, kRequestFates> kRequestWords{"arrives", "refused", "lost",
                                                                    "doubled"};
constexpr std::array<std::string_view, kAnswerFates> kAnswerWords{
    "arrives",    "lost",       "reset",     "truncated", "status_502",
    "status_503", "status_504", "early_200", "hasty_200", "replayed"};
constexpr std::array<std::string_view, kApiFates> kApiWords{"ok", "failed_500", "done_no_answer",
                                                            "no_answer", "rate_limited"};
constexpr std::array<std::string_view, kHappeningKinds> kHappeningWords{
    "clock_step",     "store_outage",  "gate_outage",     "pause_account", "pause_everybody",
    "close_gate",     "plant_queued",  "plant_keyless",   "plant_running", "kill_admission",
    "kill_drainer",   "kill_reaper",   "kill_serve",      "kill_worker",   "kill_executor",
    "freeze_drainer", "freeze_worker", "freeze_executor", "freeze_reaper"};

template <class Words, class Kind>
std::string_view word(const Words& words, Kind kind) {
  return words[static_cast<std::size_t>(kind)];
}

std::string describe(const Arrival& arrival) {
  std::string text = fmt::format("arrival {} at {}ms account {} key {}", arrival.number,
                                 arrival.at.count(), arrival.account, arrival.key);
  if (arrival.kind == SubmissionKind::unparsable) text += " unparsable";
  if (arrival.kind == SubmissionKind::bad_field) text += " bad_field";
  if (arrival.again_after) text += fmt::format(" again +{}ms", arrival.again_after->count());
  if (arrival.commit_takes > Millis{0})
    text += fmt::format(" commit {}ms", arrival.commit_takes.count());
  for (const ApiStep& step : arrival.script.steps)
    text += fmt::format("; {}ms {} {} {}ms", step.think.count(), step.is_effect ? "POST" : "GET",
                        to_text(step.fate), step.takes.count());
  text += fmt::format("; {}ms {}", arrival.script.last_think.count(),
                      arrival.script.fails ? "fails" : "ends");
  for (const DispatchFate& fate : arrival.fates)
    text +=
        fmt::format("; dispatch {} {}ms {} {}ms +{}ms", to_text(fate.request), fate.travel.count(),
                    to_text(fate.answer), fate.answer_travel.count(), fate.second.count());
  return text + "\n";
}

}  // namespace

std::string_view to_text(Role role) { return word(kRoleWords, role); }
std::string_view to_text(CallFaultKind kind) { return word(kCallFaultWords, kind); }
std::string_view to_text(RequestFate fate) { return word(kRequestWords, fate); }
std::string_view to_text(AnswerFate fate) { return word(kAnswerWords, fate); }
std::string_view to_text(ApiFate fate) { return word(kApiWords, fate); }
std::string_view to_text(HappeningKind kind) { return word(kHappeningWords, kind); }

std::string describe(const Scenario& scenario) {
  const Settings& is = scenario.settings;
  std::string text = fmt::format(
      "settings: {} concurrency {} per_account {} children {} poll {}ms wall {}ms restart {}ms "
      "master {} buries {} gate_in_store {} wakes {} can_probe {} running_after {}ms queued_after "
      "{}ms; faults until {}ms\n",
      is.order == Order::fair ? "fair" : "fifo", is.concurrency, is.per_account, is.max_children,
      is.poll_interval.count(), is.wall.count(), is.restart_takes.count(), is.has_master, is.buries,
      is.gate_in_store, is.wakes, is.can_probe, is.running_after.count(), is.queued_after.count(),
      scenario.faults_until.count());
  for (const Arrival& arrival : scenario.arrivals) text += describe(arrival);
  for (const Happening& one : scenario.happenings)
    text += fmt::format("happening {} at {}ms for {}ms target {}\n", to_text(one.kind),
                        one.at.count(), one.lasts.count(), one.target);
  for (const CallFault& fault : scenario.call_faults)
    text += fmt::format("call {} of {}: {} ({}ms)\n", fault.call, to_text(fault.role),
                        to_text(fault.kind), fault.pause.count());
  return text;
}

}  // namespace coderunner::sim
