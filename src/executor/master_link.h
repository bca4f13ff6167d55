// A worker's end of the channel to its master. Reads without waiting; "stop" and the master's death
// are remembered, so that whoever waits for anything can be told.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string_view>

#include "executor/channel.h"
#include "seams/clock.h"

namespace coderunner::executor {

class MasterLink {
 public:
  explicit MasterLink(Descriptor channel) : channel_(std::move(channel)) {}

  // -1 once the master has died.
  int descriptor() const { return channel_.get(); }
  bool is_gone() const { return !channel_.is_open(); }
  bool must_stop() const { return must_stop_; }
  bool has_waiting() const { return !waiting_.empty(); }
  // Takes in whatever has arrived.
  void read();
  // The same, and waits a while for it where nothing is there.
  void await(const Clock& clock);
  // The oldest message that is not a stop.
  std::optional<Message> take();
  bool say(std::string_view verb, std::string_view text = {}, std::span<const int> fds = {}) const;

 private:
  Descriptor channel_;
  std::deque<Message> waiting_;
  bool must_stop_ = false;
};

}  // namespace coderunner::executor
