// `coderunner serve`: composes the roles it is given and keeps them until SIGTERM (architecture:
// processes). The only place that builds adapters for the daemon.
#pragma once

#include <set>

#include "app/settings.h"

namespace coderunner::app {

struct ServeArguments {
  Settings settings;
  std::set<Role> roles;  // not empty
  bool wait_lock = false;
};

// The exit status of the process (contract section 1): 0 after a graceful stop, 1 failed, 2 bad
// configuration or a store that must not be touched, 3 another drainer holds this store's lock.
int run_serve(const ServeArguments& arguments);

}  // namespace coderunner::app
