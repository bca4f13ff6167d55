#include "sim/virtual_roles.h"

#include <algorithm>
#include <utility>

namespace coderunner::sim {
namespace {

using namespace std::chrono_literals;

ProcessRef make_process(Role role, int number) {
  return std::make_shared<Process>(Process{role, fmt::format("{}{}", to_text(role), number)});
}

DrainerSettings drainer_settings(const Settings& is, const std::string& name) {
  return {.me = {name},
          .limits = {is.order, is.concurrency, is.per_account},
          .poll_interval = is.poll_interval,
          .doubtful_after = limits::doubtful_after(is.wall, limits::kReaperMargin)};
}

}  // namespace

// ---- the drainer

DrainerRole::Life::Life(DrainerRole& role, int number)
    : process(make_process(Role::drainer, number)),
      seams(role.shared_, process),
      entropy(role.shared_.world.scenario.seed, static_cast<std::uint64_t>(number)),
      transport(role.shared_, role.executor_, secrets, process, [&role] { role.wake(); }),
      drainer(drainer_settings(role.shared_.world.scenario.settings, process->name),
              {seams, seams, transport, role.executor_, secrets, entropy, role.shared_.world.clock,
               role.shared_.judge}) {}

void DrainerRole::start() {
  lives_.push_back(std::make_unique<Life>(*this, static_cast<int>(lives_.size()) + 1));
  Life& life = *lives_.back();
  life.process->on_death = [this] {
    shared_.world.after(shared_.world.scenario.settings.restart_takes, [this] { start(); });
  };
  plan_tick(life, Millis{0});
}

void DrainerRole::wake() {
  Life& life = *lives_.back();
  life.is_woken = true;
  if (!life.process->is_busy) plan_tick(life, Millis{0});
}

void DrainerRole::plan_tick(Life& life, Millis delay) {
  shared_.world.after(delay, life.process, [this, &life, plan = ++life.plan] {
    if (plan == life.plan) tick(life);
  });
}

void DrainerRole::tick(Life& life) {
  constexpr std::int64_t kCheckEvery = 64;
  life.is_woken = false;
  const Millis next = life.drainer.tick();
  if (++ticks_ % kCheckEvery == 0) shared_.judge.check_reachable();
  plan_tick(life, life.is_woken ? Millis{0} : std::max(next, Millis{1}));
}

// ---- admission

AdmissionRole::Life::Life(AdmissionRole& role, int number)
    : process(make_process(Role::admission, number)),
      seams(role.shared_, process),
      entropy(role.shared_.world.scenario.seed, 1000U + static_cast<std::uint64_t>(number)),
      admission({seams, check, secrets, entropy, role.shared_.world.clock}, role.wake_drainer_) {}

void AdmissionRole::start() {
  lives_.push_back(std::make_unique<Life>(*this, static_cast<int>(lives_.size()) + 1));
  lives_.back()->process->on_death = [this] {
    shared_.world.after(shared_.world.scenario.settings.restart_takes, [this] { start(); });
  };
}

void AdmissionRole::submit(const Arrival& arrival, const std::string& identifier) {
  Life& life = *lives_.back();
  shared_.judge.submitted(identifier, arrival);
  SubmissionFields fields;
  fields.account = fmt::format("a{}", arrival.account);
  if (arrival.kind != SubmissionKind::bad_field)
    fields.apikey = fmt::format("{}k{}", kSecretKeyMark, arrival.key);
  fields.source = arrival.kind == SubmissionKind::unparsable ? kBrokenSource : kSourceMark;
  fields.identifier = identifier;
  shared_.world.run_in(
      life.process, [this, &life, fields, identifier, takes = arrival.commit_takes] {
        life.seams.next_commit_takes(takes);
        life.admission.submit(fields, [this, identifier](const AdmissionAnswer& answer) {
          shared_.world.trace("submission {} is answered: {}", identifier, answer.index());
          shared_.judge.answered(identifier, answer);
        });
        life.seams.next_commit_takes(Millis{0});
      });
}

// ---- the reaper

ReaperRole::Life::Life(ReaperRole& role, int number)
    : process(make_process(Role::reaper, number)),
      seams(role.shared_, process),
      reaper({.running_after = role.shared_.world.scenario.settings.running_after,
              .queued_after = role.shared_.world.scenario.settings.queued_after},
             {seams, role.probe_, role.shared_.world.clock, role.shared_.judge}) {}

void ReaperRole::start() {
  lives_.push_back(std::make_unique<Life>(*this, static_cast<int>(lives_.size()) + 1));
  Life& life = *lives_.back();
  life.process->on_death = [this] {
    shared_.world.after(shared_.world.scenario.settings.restart_takes, [this] { start(); });
  };
  plan_tick(life, Millis{0});
}

void ReaperRole::plan_tick(Life& life, Millis delay) {
  shared_.world.after(delay, life.process, [this, &life] {
    const Millis next = life.reaper.tick();
    plan_tick(life, std::max(next, Millis{1}));
  });
}

}  // namespace coderunner::sim
