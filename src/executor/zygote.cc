#include "executor/zygote.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <list>
#include <string>
#include <vector>

#include "executor/channel.h"
#include "executor/roles.h"
#include "executor/sandbox_proof.h"
#include "executor/script_process.h"
#include "executor/spawn.h"

namespace coderunner::executor {
namespace {

struct ScriptChild {
  pid_t pid = 0;
  Descriptor control;  // closed once the worker is gone
};

class Zygote {
 public:
  Zygote(Descriptor master, Descriptor exits, Sandbox sandbox, const Clock& clock)
      : master_(std::move(master)),
        exits_(std::move(exits)),
        sandbox_(std::move(sandbox)),
        clock_(clock) {}

  void tell_what_holds() {
    send_message(master_.get(), kSandbox, to_text(prove_sandbox(sandbox_)));
  }

  // Crash window master-lost: workers finish their runs, and their scripts live until then.
  // Without the init of their pid namespace no other script can be forked.
  void serve() {
    while (!has_lost_init_ && (master_.is_open() || !children_.empty())) step();
  }

 private:
  void step() {
    std::vector<pollfd> polled{{exits_.get(), POLLIN, 0}, {master_.get(), POLLIN, 0}};
    for (const ScriptChild& child : children_) polled.push_back({child.control.get(), POLLIN, 0});
    if (::poll(polled.data(), polled.size(), -1) < 0) return;

    auto child = children_.begin();
    for (std::size_t at = 2; at < polled.size(); ++at, ++child)
      if (polled[at].revents != 0) obey(*child);
    if (polled[0].revents != 0) reap();
    if (polled[1].revents != 0) hear_master();
  }

  void obey(ScriptChild& child) {
    const Received received = receive_message(child.control.get());
    if (std::holds_alternative<NothingThere>(received)) return;
    // "kill", or the worker is gone: a script nobody listens to has no right to a slot's CPU.
    ::kill(child.pid, SIGKILL);
    if (std::holds_alternative<PeerGone>(received)) child.control.close();
  }

  void reap() {
    signalfd_siginfo drained;
    while (::read(exits_.get(), &drained, sizeof drained) > 0) continue;
    int status = 0;
    for (pid_t pid = ::waitpid(-1, &status, WNOHANG); pid > 0;
         pid = ::waitpid(-1, &status, WNOHANG)) {
      has_lost_init_ = has_lost_init_ || pid == sandbox_.init();
      const auto ended = std::find_if(children_.begin(), children_.end(),
                                      [pid](const ScriptChild& child) { return child.pid == pid; });
      if (ended == children_.end()) continue;
      if (ended->control.is_open())
        send_message(ended->control.get(), kEnded, std::to_string(status));
      children_.erase(ended);
    }
  }

  void hear_master() {
    Received received = receive_message(master_.get());
    if (std::holds_alternative<PeerGone>(received)) master_.close();
    auto* message = std::get_if<Message>(&received);
    if (message != nullptr && message->verb == kSpawn && message->descriptors.size() == 2)
      start_script(*message);
  }

  void start_script(Message& request) {
    const auto limits = parse_spawn_text(request.text);
    if (!limits) return;  // both ends close: the worker sees it
    const Jail jail = sandbox_.jail(request.descriptors[0].get(), *limits);
    Descriptor control = std::move(request.descriptors[1]);

    // Crash window forked-untold: the script dies with this process; the worker sees both sockets
    // close, before any begin.
    const pid_t pid = ::fork();
    if (pid == 0) run_script_process(jail, clock_);
    if (pid < 0) {
      send_message(control.get(), kFailed, std::strerror(errno));
      return;
    }
    send_message(control.get(), kStarted, std::to_string(pid));
    children_.push_back({pid, std::move(control)});
  }

  Descriptor master_;
  Descriptor exits_;
  Sandbox sandbox_;
  const Clock& clock_;
  std::list<ScriptChild> children_;
  bool has_lost_init_ = false;
};

constexpr int kNotByHand = 2;  // bad usage: only the master has this channel to give

}  // namespace

int run_zygote(const Clock& clock) {
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(kZygoteMasterChannel, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
      type != SOCK_SEQPACKET)
    return kNotByHand;
  ignore_group_signals("cr-zygote");
  Descriptor exits = child_exits();
  if (!exits.is_open()) return 1;
  Descriptor master{kZygoteMasterChannel};
  auto sandbox = Sandbox::set_up();
  if (!sandbox) {
    send_message(master.get(), kFailed, sandbox.error().message);
    return 1;
  }
  Zygote zygote{std::move(master), std::move(exits), std::move(*sandbox), clock};
  zygote.tell_what_holds();
  zygote.serve();
  return 0;
}

}  // namespace coderunner::executor
