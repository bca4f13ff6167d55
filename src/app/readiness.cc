#include "app/readiness.h"

#include <utility>

#include "domain/limits.h"

namespace coderunner::app {

Readiness::Readiness(ReadinessParts parts)
    : parts_(std::move(parts)), made_at_(parts_.clock.utc_now()) {}

std::vector<std::string> Readiness::reasons() const {
  std::vector<std::string> reasons;
  if (parts_.stopping) reasons.emplace_back("stopping");
  if (const auto read = parts_.read_store(); !read)
    reasons.push_back("the store can not be read: " + read.error().message);
  if (const auto trouble = parts_.write_trouble())
    reasons.push_back("the store can not be written: " + trouble->message);
  if (is_stalled()) reasons.emplace_back("the drainer has stalled");
  return reasons;
}

bool Readiness::is_stalled() const {
  if (!parts_.last_tick) return false;
  return parts_.clock.utc_now() - parts_.last_tick().value_or(made_at_) > limits::kStalledAfter;
}

}  // namespace coderunner::app
