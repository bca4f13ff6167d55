// The executor's processes as the test program starts them: the roles of spawn_role(), with the
// ledger in a folder, and one more, a `serve` that can be killed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "executor/settings.h"

namespace coderunner::executor_test {

struct PoolSetup {
  std::filesystem::path folder;
  int max_children = 8;
  Millis wall{20'000};
  Millis finish_attempt{60'000};
  Millis loop_budget{60'000};  // no test waits that long: what ends sooner was ended
  std::string api = "http://127.0.0.1:9/api/v2";  // discard: refused at once
};

int to_number(std::string_view text);  // 0 where it starts with no digit
std::string to_text(const PoolSetup& setup);
PoolSetup setup_from_text(const std::string& text);

// The process's exit status where `argument` names a role; nullopt where it is a test's own.
std::optional<int> run_role(int argc, char** argv);

inline constexpr const char* kServeArgument = "test-serve";  // + listener, settings text

}  // namespace coderunner::executor_test
