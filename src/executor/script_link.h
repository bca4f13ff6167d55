// A worker's two sockets to one script process: the frames it exchanges with the script, and the
// zygote's control socket that kills it and reports its end. Closing both is the script's death, so
// the object's lifetime is the script's upper bound.
#pragma once

#include <optional>
#include <string_view>

#include "executor/frame.h"
#include "executor/master_link.h"
#include "executor/run_watch.h"
#include "executor/settings.h"
#include "seams/clock.h"

namespace coderunner::executor {

class ScriptLink {
 public:
  // Asks the zygote, through the master, for a process that waits for its ScriptStart. Blocks for
  // at most twice limits::kScriptStart. unavailable: there is none and nothing has happened.
  static Result<ScriptLink> request(MasterLink& master, const ScriptLimits& limits,
                                    const Clock& clock);

  int socket() const { return socket_.get(); }
  int control() const { return control_.get(); }
  // Sends one frame, waiting for room under the watch. nullopt: sent, or the script is not there to
  // read it (its end is told by the watch next).
  std::optional<RunEnd> send(std::string_view json, RunWatch& watch, const Clock& clock) const;

  // Reads the control socket without waiting. script_ended sets wait_status().
  std::optional<RunEnd> look();
  std::optional<int> wait_status() const { return wait_status_; }
  void kill() const { send_message(control_.get(), kKill); }

 private:
  ScriptLink(Descriptor socket, Descriptor control)
      : socket_(std::move(socket)), control_(std::move(control)) {}
  static Result<ScriptLink> ask_once(const MasterLink& master, const ScriptLimits& limits,
                                     const Clock& clock);

  Descriptor socket_;
  Descriptor control_;
  std::optional<int> wait_status_;
  bool is_lost_ = false;
};

// The watch of a real run: its script, its master and the clock.
class RunSockets final : public RunWatch {
 public:
  struct Parts {
    MasterLink& master;
    ScriptLink& script;
    const Clock& clock;
    MonoTime wall;
    int client = -1;  // a silent peer whose going ends the run
  };
  explicit RunSockets(const Parts& parts) : parts_(parts) {}
  MonoTime wall() const override { return parts_.wall; }
  std::vector<int> descriptors() const override;
  std::optional<RunEnd> look() override;
  std::optional<RunEnd> wait_until(MonoTime until) override;
  // Also returns, without an end, once `fd` is ready for `events`.
  std::optional<RunEnd> wait_for(int fd, short events, MonoTime until);

 private:
  Parts parts_;
  std::optional<RunEnd> end_;
};

}  // namespace coderunner::executor
