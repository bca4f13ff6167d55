// The master's own word to a client there is no worker for: a canned HTTP 503, and a moment to read
// it. A socket closed with the request unread would reset, and the client might never see the
// answer. Non-blocking; part of the master's poll loop.
#pragma once

#include <poll.h>

#include <optional>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "executor/descriptor.h"

namespace coderunner::executor {

class Refusals {
 public:
  void refuse(Descriptor client, std::string_view why, MonoTime now);
  void add_to(std::vector<pollfd>& polled) const;
  // Reads what clients still send and lets go those that have closed or had their time.
  void tend(MonoTime now);
  std::optional<MonoTime> next_deadline() const;
  bool empty() const { return clients_.empty(); }

 private:
  struct Client {
    Descriptor socket;
    MonoTime until;
  };
  std::vector<Client> clients_;
};

}  // namespace coderunner::executor
