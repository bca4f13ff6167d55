// What of the sandbox holds on this machine, feature by feature, as the zygote found by trying.
// Made at its start; told to the master for the log, and to `coderunner doctor`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coderunner::executor {

struct SandboxFeature {
  std::string name;
  bool holds = false;
  std::string detail;  // what was tried, or why it does not hold; one line
  friend bool operator==(const SandboxFeature&, const SandboxFeature&) = default;
};

struct SandboxReport {
  std::vector<SandboxFeature> features;

  bool is_complete() const;
  std::string names_of(bool holding) const;  // "network, files"
  std::string missing() const;               // "network: Operation not permitted; ..."
  friend bool operator==(const SandboxReport&, const SandboxReport&) = default;
};

std::string to_text(const SandboxReport& report);
std::optional<SandboxReport> parse_sandbox_report(std::string_view text);

}  // namespace coderunner::executor
