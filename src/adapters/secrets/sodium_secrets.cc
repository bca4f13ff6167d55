#include "adapters/secrets/sodium_secrets.h"

#include <sodium.h>

#include <span>
#include <vector>

#include "base/ensure.h"
#include "base/text.h"

namespace coderunner {
namespace {

static_assert(SodiumSecrets::kKeyBytes == crypto_secretbox_KEYBYTES);

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string sha256_hex(std::string_view first, std::string_view second) {
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  crypto_hash_sha256_update(&state, bytes_of(first), first.size());
  crypto_hash_sha256_update(&state, bytes_of(second), second.size());
  std::array<std::uint8_t, crypto_hash_sha256_BYTES> digest{};
  crypto_hash_sha256_final(&state, digest.data());
  return to_hex(digest);
}

std::string to_base64(std::span<const std::uint8_t> bytes) {
  std::string text(sodium_base64_encoded_len(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(text.data(), text.size(), bytes.data(), bytes.size(),
                    sodium_base64_VARIANT_ORIGINAL);
  text.pop_back();  // its closing zero
  return text;
}

Error not_ours() {
  return fail(Failure::corrupt,
              "a stored API key was not sealed with this installation's key file");
}

}  // namespace

SodiumSecrets::SodiumSecrets(std::string salt, const Key& key, Entropy& entropy)
    : salt_(std::move(salt)), key_(key), entropy_(entropy) {
  ensure(!salt_.empty(), "an empty salt");
  ensure(sodium_init() >= 0, "libsodium refuses to start");
}

SodiumSecrets::~SodiumSecrets() {
  sodium_memzero(key_.data(), key_.size());
  sodium_memzero(salt_.data(), salt_.size());
}

AccountId SodiumSecrets::account_id(std::string_view account) const {
  return AccountId{sha256_hex(salt_, account)};
}

ApiKeyHash SodiumSecrets::api_key_hash(std::string_view api_key) const {
  return ApiKeyHash{sha256_hex(salt_, api_key)};
}

RequestHash SodiumSecrets::request_hash(std::string_view request) const {
  return RequestHash{sha256_hex(salt_, request)};
}

NonceHash SodiumSecrets::nonce_hash(const Nonce& nonce) const {
  return NonceHash{sha256_hex({}, nonce.value)};
}

std::string SodiumSecrets::seal(std::string_view api_key) {
  std::vector<std::uint8_t> sealed(crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES +
                                   api_key.size());
  const auto nonce = std::span{sealed}.first(crypto_secretbox_NONCEBYTES);
  const auto box = std::span{sealed}.subspan(crypto_secretbox_NONCEBYTES);
  entropy_.fill(nonce);
  ensure(crypto_secretbox_easy(box.data(), bytes_of(api_key), api_key.size(), nonce.data(),
                               key_.data()) == 0,
         "crypto_secretbox_easy failed");
  return to_base64(sealed);
}

Result<std::string> SodiumSecrets::open(std::string_view sealed) const {
  if (sealed.empty()) return not_ours();  // libsodium takes no null pointer
  std::vector<std::uint8_t> bytes(sealed.size());
  std::size_t length = 0;
  if (sodium_base642bin(bytes.data(), bytes.size(), sealed.data(), sealed.size(), nullptr, &length,
                        nullptr, sodium_base64_VARIANT_ORIGINAL) != 0 ||
      length < crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES)
    return not_ours();
  const auto nonce = std::span{bytes}.first(crypto_secretbox_NONCEBYTES);
  const auto box =
      std::span{bytes}.subspan(crypto_secretbox_NONCEBYTES, length - crypto_secretbox_NONCEBYTES);
  std::string api_key(box.size() - crypto_secretbox_MACBYTES, '\0');
  if (crypto_secretbox_open_easy(reinterpret_cast<unsigned char*>(api_key.data()), box.data(),
                                 box.size(), nonce.data(), key_.data()) != 0)
    return not_ours();
  return api_key;
}

}  // namespace coderunner
