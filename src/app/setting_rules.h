// What settings must be together, and what their texts must mean, beyond a type and a range.
// Called by config.cc. Pure: opens no file, resolves no name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/settings.h"

namespace coderunner::app {

struct BrokenRule {
  std::string_view key;  // the one to change
  std::string message;
  friend bool operator==(const BrokenRule&, const BrokenRule&) = default;
};

std::vector<BrokenRule> broken_rules(const Settings& settings);

// True for "127.x.x.x:PORT", "[::1]:PORT", "localhost:PORT" and "unix:PATH": nobody off this
// machine can reach it.
bool is_loopback_address(std::string_view listen);

}  // namespace coderunner::app
