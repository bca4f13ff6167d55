// Hashes and secret boxes over libsodium, behind the Secrets seam. Built by app/ in `serve` and in
// the executor's workers; never in the zygote or a script's process. The salt and the key leave
// this class in no form.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "seams/entropy.h"
#include "seams/secrets.h"

namespace coderunner {

class SodiumSecrets final : public Secrets {
 public:
  static constexpr std::size_t kKeyBytes = 32;
  using Key = std::array<std::uint8_t, kKeyBytes>;

  // `entropy` gives each box its nonce and must outlive this. The salt must not be empty: whoever
  // reads it from outside has refused that already.
  SodiumSecrets(std::string salt, const Key& key, Entropy& entropy);
  ~SodiumSecrets() override;
  SodiumSecrets(const SodiumSecrets&) = delete;
  SodiumSecrets& operator=(const SodiumSecrets&) = delete;

  AccountId account_id(std::string_view account) const override;
  ApiKeyHash api_key_hash(std::string_view api_key) const override;
  RequestHash request_hash(std::string_view request) const override;
  NonceHash nonce_hash(const Nonce& nonce) const override;
  std::string seal(std::string_view api_key) override;
  Result<std::string> open(std::string_view sealed) const override;

 private:
  std::string salt_;
  Key key_;
  Entropy& entropy_;
};

}  // namespace coderunner
