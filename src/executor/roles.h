// The hidden subcommands the executor's processes are started under, and the descriptors each finds
// open when it starts (everything else is closed at exec). Called by main() before anything else
// and by those who start them. Settings travel as text in a memfd: opaque here, app/ fills and
// parses it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace coderunner::executor {

enum class Role { master, worker, test_worker, zygote };

// "executor-master", "executor-worker", ...: the first argument of the program.
std::string_view to_argument(Role role);
std::optional<Role> role_from_argument(std::string_view argument);

// Descriptors by number, the same in every start of the role.
inline constexpr int kMasterParentChannel = 3;
inline constexpr int kMasterSettings = 4;
inline constexpr int kMasterScoreboard = 5;
inline constexpr int kMasterListener = 6;

// Of both kinds of workers.
inline constexpr int kWorkerMasterChannel = 3;
inline constexpr int kWorkerSettings = 4;
inline constexpr int kWorkerScoreboard = 5;

inline constexpr int kZygoteMasterChannel = 3;

// The text given to LauncherOptions::settings, in a master or a worker. The zygote has none.
Result<std::string> inherited_settings(Role role);

}  // namespace coderunner::executor
