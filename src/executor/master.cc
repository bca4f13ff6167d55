#include "executor/master.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "domain/limits.h"
#include "executor/poll_until.h"
#include "executor/pool.h"
#include "executor/refusals.h"
#include "executor/roles.h"
#include "executor/sandbox_report.h"
#include "executor/spawn.h"
#include "executor/test_protocol.h"

namespace coderunner::executor {
namespace {

constexpr Millis kZygoteSettled{1000};  // one that dies sooner is not started again unasked
constexpr Millis kAcceptPause{100};     // after "no descriptor left": the connection stays readable

class Master {
 public:
  struct Descriptors {
    Descriptor parent;
    Descriptor settings;
    Descriptor listener;
    Descriptor exits;  // signalfd of SIGCHLD
  };
  struct Boards {
    Scoreboard pool;       // serve counts its children
    Scoreboard test_lane;  // nobody else looks at it
  };
  Master(const PoolSettings& settings, const MasterParts& parts, Descriptors descriptors,
         Boards boards)
      : parts_(parts),
        descriptors_(std::move(descriptors)),
        board_(std::move(boards.pool)),
        pool_({settings, board_, descriptors_.settings.get(), parts.clock, parts.events}),
        test_settings_{.wall = test_wall(settings.wall)},
        test_board_(std::move(boards.test_lane)),
        test_pool_({test_settings_, test_board_, descriptors_.settings.get(), parts.clock,
                    parts.events, Role::test_worker, 0, "test_lane_full"}) {}

  int serve() {
    start_zygote();
    while (!is_done()) step();
    end_zygote();
    return 0;
  }

 private:
  // Serving until the parent has died (runs end by themselves) or has said stop (they are cut).
  enum class Phase { serving, ending, stopping };

  bool is_done() {
    if (phase_ == Phase::stopping && parts_.clock.mono_now() >= stop_by_) {
      pool_.kill_all();  // cut rows are left to whoever proves their executors dead
      test_pool_.kill_all();
      return true;
    }
    return phase_ != Phase::serving && pool_.is_empty() && test_pool_.is_empty();
  }

  void step() {
    const MonoTime now = parts_.clock.mono_now();
    MonoTime until = now + std::chrono::hours{1};
    const auto consider = [&until](std::optional<MonoTime> at) {
      if (at) until = std::min(until, *at);
    };
    consider(pool_.tend(now));
    consider(test_pool_.tend(now));
    refusals_.tend(now);
    consider(refusals_.next_deadline());
    if (phase_ == Phase::stopping) consider(stop_by_);
    const bool accepts = descriptors_.listener.is_open() && now >= accept_again_at_;
    if (!accepts && descriptors_.listener.is_open()) consider(accept_again_at_);

    std::vector<pollfd> polled{{descriptors_.exits.get(), POLLIN, 0},
                               {descriptors_.parent.get(), POLLIN, 0},
                               {accepts ? descriptors_.listener.get() : -1, POLLIN, 0},
                               {zygote_.get(), POLLIN, 0}};
    for (Pool* pool : pools())
      for (PoolWorker& worker : pool->workers())
        polled.push_back({worker.channel.get(), POLLIN, 0});
    refusals_.add_to(polled);
    poll_until(polled, until, parts_.clock);

    std::size_t at = 4;
    // Before the parent: a place in the test lane that serve knows to be free again is free here.
    for (Pool* pool : pools())
      for (PoolWorker& worker : pool->workers())
        if (polled[at++].revents != 0) hear(*pool, worker);
    if (polled[0].revents != 0) reap();
    if (polled[1].revents != 0) hear_parent();
    if (polled[3].revents != 0) hear_zygote();
    if (polled[2].revents != 0 && phase_ == Phase::serving) accept_one();
  }

  void hear_zygote() {
    const Received received = receive_message(zygote_.get());
    if (std::holds_alternative<PeerGone>(received)) zygote_.close();  // reaped in a moment
    const auto* message = std::get_if<Message>(&received);
    if (message == nullptr) return;
    if (message->verb == kFailed) not_started(message->text);
    const auto report =
        message->verb == kSandbox ? parse_sandbox_report(message->text) : std::nullopt;
    if (report) tell_sandbox(*report);
  }

  void tell_sandbox(const SandboxReport& report) {
    if (report.is_complete()) {
      parts_.events.record(
          {Level::info, "sandbox", std::nullopt, {{"holds", report.names_of(true)}}});
      return;
    }
    parts_.events.record({Level::warn,
                          "sandbox_incomplete",
                          std::nullopt,
                          {{"holds", report.names_of(true)}, {"missing", report.missing()}}});
  }

  std::array<Pool*, 2> pools() { return {&pool_, &test_pool_}; }

  void hear(Pool& pool, PoolWorker& worker) {
    for (;;) {
      Received received = receive_message(worker.channel.get());
      if (std::holds_alternative<NothingThere>(received)) return;
      if (std::holds_alternative<PeerGone>(received)) {
        worker.channel.close();  // reaped in a moment
        return;
      }
      Message& message = std::get<Message>(received);
      if (message.verb == kSpawn)
        relay(message);
      else
        pool.hear(worker, message);
    }
  }

  // A script process for a worker. Where it can not be passed on its sockets close with the
  // message, and the worker knows that nothing has started.
  void relay(const Message& message) {
    std::vector<int> passed;
    for (const Descriptor& descriptor : message.descriptors) passed.push_back(descriptor.get());
    if (send_message(zygote_.get(), kSpawn, message.text, passed)) return;
    start_zygote();
    send_message(zygote_.get(), kSpawn, message.text, passed);
  }

  void start_zygote() {
    zygote_.close();
    auto channel = make_channel();
    if (!channel) return not_started(channel.error().message);
    const std::array<int, 1> passed{channel->second.get()};
    const auto pid = spawn_role(Role::zygote, passed);
    if (!pid) return not_started(pid.error().message);
    zygote_ = std::move(channel->first);
    zygote_pid_ = *pid;
    zygote_started_ = parts_.clock.mono_now();
  }

  void not_started(const std::string& error) {
    parts_.events.record({Level::error, "zygote_not_started", std::nullopt, {{"error", error}}});
  }

  void reap() {
    signalfd_siginfo drained;
    while (::read(descriptors_.exits.get(), &drained, sizeof drained) > 0) continue;
    int status = 0;
    for (pid_t pid = ::waitpid(-1, &status, WNOHANG); pid > 0;
         pid = ::waitpid(-1, &status, WNOHANG)) {
      if (pool_.bury(pid, status) || test_pool_.bury(pid, status) || pid != zygote_pid_) continue;
      zygote_pid_ = 0;
      zygote_.close();
      parts_.events.record({Level::error, "zygote_died", std::nullopt, {}});
      if (parts_.clock.mono_now() - zygote_started_ >= kZygoteSettled) start_zygote();
    }
  }

  void hear_parent() {
    Received received = receive_message(descriptors_.parent.get());
    if (std::holds_alternative<NothingThere>(received)) return;
    if (auto* message = std::get_if<Message>(&received)) {
      if (message->verb == kTestRun && message->descriptors.size() == 1)
        start_test(message->descriptors.front());
      if (message->verb == kStop) stop();
      return;
    }
    descriptors_.listener.close();  // whoever comes next has a listener of its own
    descriptors_.parent.close();
    if (phase_ == Phase::serving) phase_ = Phase::ending;
    for (Pool* pool : pools()) pool->let_all_go();
  }

  void stop() {
    descriptors_.listener.close();
    if (phase_ == Phase::stopping) return;
    phase_ = Phase::stopping;
    stop_by_ = parts_.clock.mono_now() + limits::kStopFinish + limits::kMasterKillAfterWall;
    for (Pool* pool : pools()) pool->stop_all();
  }

  void start_test(const Descriptor& client) {
    if (phase_ == Phase::serving && test_pool_.hand_over(client)) return;
    refuse_test(client.get(), "no place in the test lane is free");
  }

  void accept_one() {
    Descriptor client{::accept4(descriptors_.listener.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    if (!client.is_open()) {
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
        accept_again_at_ = parts_.clock.mono_now() + kAcceptPause;
      return;
    }
    if (pool_.hand_over(client)) return;
    refusals_.refuse(std::move(client), "no executor worker is free", parts_.clock.mono_now());
  }

  // Every run has ended, and so have their scripts: nothing is left for it to do.
  void end_zygote() {
    zygote_.close();
    if (zygote_pid_ <= 0) return;
    pollfd exits{descriptors_.exits.get(), POLLIN, 0};
    poll_until({&exits, 1}, parts_.clock.mono_now() + kZygoteSettled, parts_.clock);
    ::kill(zygote_pid_, SIGKILL);
    ::waitpid(zygote_pid_, nullptr, 0);
  }

  const MasterParts& parts_;
  Descriptors descriptors_;
  Scoreboard board_;
  Pool pool_;
  PoolSettings test_settings_;
  Scoreboard test_board_;
  Pool test_pool_;
  Refusals refusals_;
  Descriptor zygote_;
  pid_t zygote_pid_ = 0;
  MonoTime zygote_started_{};
  Phase phase_ = Phase::serving;
  MonoTime stop_by_{};
  MonoTime accept_again_at_{};
};

void close_on_exec(const Descriptor& descriptor) { ::fcntl(descriptor.get(), F_SETFD, FD_CLOEXEC); }

}  // namespace

int run_master(const PoolSettings& settings, const MasterParts& parts) {
  ignore_group_signals("cr-master");
  Master::Descriptors descriptors{Descriptor{kMasterParentChannel}, Descriptor{kMasterSettings},
                                  Descriptor{kMasterListener}, child_exits()};
  auto board = Scoreboard::map(Descriptor{kMasterScoreboard});
  auto test_board = Scoreboard::create(limits::kTestPlaces);
  const auto not_started = [&parts](const std::string& error) {
    parts.events.record({Level::error, "executor_not_started", std::nullopt, {{"error", error}}});
    return 1;
  };
  if (!descriptors.exits.is_open()) return not_started(std::strerror(errno));
  if (!board) return not_started(board.error().message);
  if (!test_board) return not_started(test_board.error().message);
  for (const Descriptor* kept : {&descriptors.parent, &descriptors.settings, &descriptors.listener})
    close_on_exec(*kept);
  ::fcntl(descriptors.listener.get(), F_SETFL,
          O_NONBLOCK);  // a client may go before it is accepted
  return Master{
      settings, parts, std::move(descriptors), {std::move(*board), std::move(*test_board)}}
      .serve();
}

}  // namespace coderunner::executor
