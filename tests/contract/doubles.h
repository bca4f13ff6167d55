// A clock that only pauses move, chance that only counts, and events that are kept: what the
// store's tests put in place of the system. Thread-safe. Must never sleep.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "seams/clock.h"
#include "seams/entropy.h"
#include "seams/events.h"

namespace coderunner::contract {

inline UtcTime at(std::string_view text) { return *from_sql(text); }
inline const UtcTime kNoon = at("2026-08-24 12:00:00.000");

class SteppedClock final : public Clock {
 public:
  UtcTime utc_now() const override { return kNoon + Millis{passed_.load()}; }
  MonoTime mono_now() const override { return MonoTime{Millis{passed_.load()}}; }
  void advance(Millis by) { passed_ += by.count(); }

 private:
  std::atomic<std::int64_t> passed_{0};
};

class CountedEntropy final : public Entropy {
 public:
  void fill(std::span<std::uint8_t> bytes) override {
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(next_++);
  }

 private:
  std::atomic<unsigned> next_{0};
};

class KeptEvents final : public Events {
 public:
  void record(const Event& event) override {
    const std::lock_guard lock{mutex_};
    names_.emplace_back(event.name);
  }
  std::vector<std::string> names() const {
    const std::lock_guard lock{mutex_};
    return names_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> names_;
};

}  // namespace coderunner::contract
