// Seams under a test's hand: a clock that is turned, chance that repeats, a transport that answers
// when told to.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "seams/clock.h"
#include "seams/entropy.h"
#include "seams/events.h"
#include "seams/process_probe.h"
#include "seams/secrets.h"
#include "seams/transport.h"

namespace coderunner::fakes {

class TurnedClock final : public Clock {
 public:
  UtcTime utc_now() const override { return utc_; }
  MonoTime mono_now() const override { return mono_; }
  void advance(Millis by) {
    utc_ += by;
    mono_ += by;
  }
  void step_utc(Millis by) { utc_ += by; }  // the wall clock alone is set

 private:
  UtcTime utc_{Millis{1'787'573'280'000}};
  MonoTime mono_{Millis{1'000'000}};
};

class CountingEntropy final : public Entropy {
 public:
  void fill(std::span<std::uint8_t> bytes) override {
    for (std::uint8_t& byte : bytes) byte = next_++;
    next_ += 7;  // so that two fills of one length never repeat soon
  }

 private:
  std::uint8_t next_ = 1;
};

// Readable stand-ins: "hash(acme)". What is sealed opens.
class PlainSecrets final : public Secrets {
 public:
  AccountId account_id(std::string_view account) const override {
    return {"account:" + std::string{account}};
  }
  ApiKeyHash api_key_hash(std::string_view key) const override {
    return {"key:" + std::string{key}};
  }
  RequestHash request_hash(std::string_view request) const override {
    return {"request:" + std::string{request}};
  }
  NonceHash nonce_hash(const Nonce& nonce) const override { return {"nonce:" + nonce.value}; }
  std::string seal(std::string_view key) override { return "sealed:" + std::string{key}; }
  Result<std::string> open(std::string_view sealed) const override {
    if (!sealed.starts_with("sealed:")) return fail(Failure::corrupt, "not sealed here");
    return std::string{sealed.substr(7)};
  }
};

class RecordedEvents final : public Events {
 public:
  void record(const Event& event) override { names.emplace_back(event.name); }
  bool has(std::string_view name) const {
    for (const std::string& one : names)
      if (one == name) return true;
    return false;
  }
  std::vector<std::string> names;
};

class HeldTransport final : public Transport {
 public:
  void start(const Dispatch& dispatch) override { started.push_back(dispatch); }
  std::vector<DispatchAnswer> poll() override { return std::exchange(answers_, {}); }

  void answer(ExecutionId execution, int status) {
    answers_.push_back({.execution = execution, .http_status = status});
  }
  void break_off(ExecutionId execution, bool never_sent = false) {
    answers_.push_back(
        {.execution = execution, .never_sent = never_sent, .error = "connection reset"});
  }
  std::vector<Dispatch> started;

 private:
  std::vector<DispatchAnswer> answers_;
};

class ToldProbe final : public ProcessProbe {
 public:
  Liveness probe(const ExecutorId& executor) const override {
    return gone.contains(executor) ? Liveness::gone : Liveness::alive;
  }
  std::set<ExecutorId> gone;
};

}  // namespace coderunner::fakes
