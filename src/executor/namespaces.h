// The namespaces the zygote enters once, for all its scripts: no network, no file, nobody else's
// processes. Called by the zygote at its start, while it has one thread and no child. Each is
// entered where the kernel and the user allow it, and what was not is told.
#pragma once

#include <optional>
#include <string>

namespace coderunner::executor {

// Absent: entered. Present: why not.
using WhyNot = std::optional<std::string>;

struct Namespaces {
  WhyNot user;     // a service that is not root only: what lets it enter the others
  WhyNot network;  // one without even a loopback that is up
  WhyNot files;    // an empty root, read-only
  WhyNot ipc;
  WhyNot host_name;
  // Of the children, not of the caller: the first one forked from now on is its init, and when that
  // dies all of them do. A child sees 0 as its parent.
  WhyNot processes;
};

// Irreversible. A root keeps its user namespace, because it can give scripts another user.
Namespaces enter_namespaces();

}  // namespace coderunner::executor
