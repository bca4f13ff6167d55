#include "sim/replay_pool.h"

#include <algorithm>
#include <deque>

#include "sim/event_queue.h"
#include "sim/replay_tally.h"

namespace coderunner::sim {
namespace {

class Pool {
 public:
  Pool(const std::vector<TraceArrival>& trace, const ReplayOptions& options)
      : options_(options), quota_(options.quota), free_(options.workers) {
    for (const TraceArrival& arrival : trace)
      events_.plan(MonoTime{arrival.at}, [this, &arrival] { arrive(arrival); });
  }

  ReplayReport run() {
    while (const auto next = events_.next_time()) {
      now_ = std::chrono::floor<Millis>(next->time_since_epoch());
      events_.take()();
    }
    return tally_.report();
  }

 private:
  struct Run {
    const TraceArrival* arrival;
    Millis began{0};
    int call = 0;
  };

  void arrive(const TraceArrival& arrival) {
    tally_.arrived(arrival.account);
    waiting_.push_back(&arrival);
    start_waiting();
    const Millis oldest = waiting_.empty() ? Millis{0} : now_ - waiting_.front()->at;
    tally_.backlog(static_cast<int>(waiting_.size()), oldest);
  }

  void start_waiting() {
    while (free_ > 0 && !waiting_.empty()) {
      --free_;
      const TraceArrival* arrival = waiting_.front();
      waiting_.pop_front();
      tally_.began(arrival->account, now_ - arrival->at);
      step({arrival, now_, 0});
    }
  }

  void step(Run run) {
    const TraceArrival& arrival = *run.arrival;
    if (run.call == arrival.api_calls) return end(run, RunFate::succeeded);
    if (const auto retry_after = quota_.call(arrival.key, now_).retry_after) {
      if (*retry_after >= limits::kLongRetryAfter) return end(run, RunFate::failed);
      return go_on(run, *retry_after + limits::kGateMargin);
    }
    const Millis takes = arrival.call_takes(run.call++);
    go_on(run, takes);
  }

  void go_on(const Run& run, Millis after) {
    const Millis at = std::min(now_ + after, run.began + options_.wall);
    events_.plan(MonoTime{at}, [this, run] {
      if (now_ >= run.began + options_.wall) return end(run, RunFate::killed_at_wall);
      step(run);
    });
  }

  void end(const Run& run, RunFate fate) {
    tally_.ended(run.arrival->account, fate, now_ - run.began, now_);
    ++free_;
    start_waiting();
  }

  const ReplayOptions& options_;
  QuotaWindows quota_;
  EventQueue events_;
  ReplayTally tally_;
  std::deque<const TraceArrival*> waiting_;
  int free_;
  Millis now_{0};
};

}  // namespace

ReplayReport replay_pool(const std::vector<TraceArrival>& trace, const ReplayOptions& options) {
  return Pool{trace, options}.run();
}

}  // namespace coderunner::sim
