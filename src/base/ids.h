// Strong types for every identifier that crosses a function: an ExecutionId is not a JobId, an
// account's hash is not a key's hash. Values only; how they are made is the business of secrets,
// entropy and the store.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace coderunner {

template <class Tag>
struct NumberId {
  std::int64_t value = 0;
  friend auto operator<=>(const NumberId&, const NumberId&) = default;
};

template <class Tag>
struct TextId {
  std::string value;
  friend auto operator<=>(const TextId&, const TextId&) = default;
};

using ExecutionId = NumberId<struct ExecutionTag>;
using JobId = NumberId<struct JobTag>;
using LogId = NumberId<struct LogTag>;

using AccountId = TextId<struct AccountTag>;    // subdomain_hash: lower-case hex SHA-256
using ApiKeyHash = TextId<struct ApiKeyTag>;    // apikey_hash: lower-case hex SHA-256
using Nonce = TextId<struct NonceTag>;          // 128 random bits in hex, the secret itself
using NonceHash = TextId<struct NonceHashTag>;  // what the store holds of it
using RunId = TextId<struct RunTag>;            // 128 random bits in hex, one per begin
using AdmissionRef = TextId<struct RefTag>;     // 128 random bits in hex, an admission's own mark
using RequestHash =
    TextId<struct RequestTag>;  // request_hash: of what an Idempotency-Key came with
using ExecutorId = TextId<struct ExecutorTag>;  // host|boot id|pid namespace|pid|start time
using DrainerId = TextId<struct DrainerTag>;    // unique per process start

}  // namespace coderunner

template <class Tag>
struct std::hash<coderunner::NumberId<Tag>> {
  std::size_t operator()(const coderunner::NumberId<Tag>& id) const noexcept {
    return std::hash<std::int64_t>{}(id.value);
  }
};
template <class Tag>
struct std::hash<coderunner::TextId<Tag>> {
  std::size_t operator()(const coderunner::TextId<Tag>& id) const noexcept {
    return std::hash<std::string>{}(id.value);
  }
};
