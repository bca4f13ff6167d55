// The small seams of a simulated run: chance that repeats, readable secrets that carry marks the
// judge looks for in every text, and a syntax check by mark.
#pragma once

#include <string>
#include <string_view>

#include "seams/entropy.h"
#include "seams/script_check.h"
#include "seams/secrets.h"
#include "sim/chance.h"

namespace coderunner::sim {

constexpr std::string_view kSecretKeyMark = "TOPSECRET";
constexpr std::string_view kSourceMark = "SOURCE";
constexpr std::string_view kBrokenSource = "SOURCE, but it does not parse";
constexpr std::string_view kNonceMark = "5ec2e7";  // what the drainer's random texts start with

// Sixteen bytes are a mark and a number, so that none repeats; anything shorter is chance.
class MarkedEntropy final : public Entropy {
 public:
  MarkedEntropy(std::uint64_t seed, std::uint64_t stream);
  void fill(std::span<std::uint8_t> bytes) override;

 private:
  Chance chance_;
  std::uint64_t stream_;
  std::uint64_t filled_ = 0;
};

class ReadableSecrets final : public Secrets {
 public:
  AccountId account_id(std::string_view account) const override;
  ApiKeyHash api_key_hash(std::string_view api_key) const override;
  RequestHash request_hash(std::string_view request) const override;
  NonceHash nonce_hash(const Nonce& nonce) const override;
  std::string seal(std::string_view api_key) override;
  Result<std::string> open(std::string_view sealed) const override;
};

class MarkCheck final : public ScriptCheck {
 public:
  std::optional<SyntaxError> check(std::string_view source) const override;
};

}  // namespace coderunner::sim
