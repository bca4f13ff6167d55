// What is done with secrets, so that nobody above needs the salt or the key (contract sections 3
// and 4). Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"

namespace coderunner {

class Secrets {
 public:
  virtual ~Secrets() = default;
  // Lower-case hex SHA-256 of the salt followed by the value.
  virtual AccountId account_id(std::string_view account) const = 0;
  virtual ApiKeyHash api_key_hash(std::string_view api_key) const = 0;
  // The same of a whole request, API key included: tells whether two are alike, and nothing else.
  virtual RequestHash request_hash(std::string_view request) const = 0;
  // Lower-case hex SHA-256 of the nonce's hex text, no salt.
  virtual NonceHash nonce_hash(const Nonce& nonce) const = 0;
  // base64 of a 24-byte nonce and a secret box.
  virtual std::string seal(std::string_view api_key) = 0;
  // corrupt where it was not sealed with this key.
  virtual Result<std::string> open(std::string_view sealed) const = 0;
};

}  // namespace coderunner
