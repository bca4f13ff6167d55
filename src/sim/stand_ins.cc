#include "sim/stand_ins.h"

#include <array>

namespace coderunner::sim {

MarkedEntropy::MarkedEntropy(std::uint64_t seed, std::uint64_t stream)
    : chance_(seed, "entropy", stream), stream_(stream) {}

void MarkedEntropy::fill(std::span<std::uint8_t> bytes) {
  constexpr std::array<std::uint8_t, 3> kMark{0x5e, 0xc2, 0xe7};
  if (bytes.size() < 16) {
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(chance_.next());
    return;
  }
  ++filled_;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::uint64_t number = i < 8 ? stream_ : filled_;
    bytes[i] = i < 3 ? kMark[i] : static_cast<std::uint8_t>(number >> (8 * (7 - i % 8)));
  }
}

AccountId ReadableSecrets::account_id(std::string_view account) const {
  return {"account:" + std::string{account}};
}
ApiKeyHash ReadableSecrets::api_key_hash(std::string_view api_key) const {
  return {"key:" + std::string{api_key.substr(kSecretKeyMark.size())}};
}
RequestHash ReadableSecrets::request_hash(std::string_view request) const {
  return {std::string{request}};
}

NonceHash ReadableSecrets::nonce_hash(const Nonce& nonce) const {
  return {"nonce:" + nonce.value.substr(kNonceMark.size())};
}
std::string ReadableSecrets::seal(std::string_view api_key) {
  return "sealed:" + std::string{api_key};
}
Result<std::string> ReadableSecrets::open(std::string_view sealed) const {
  return std::string{sealed.substr(7)};
}

std::optional<SyntaxError> MarkCheck::check(std::string_view source) const {
  if (source != kBrokenSource) return std::nullopt;
  return SyntaxError{1, "unexpected end"};
}

}  // namespace coderunner::sim
