#include <gtest/gtest.h>

#include "adapters/secrets/sodium_secrets.h"

namespace coderunner {
namespace {

class CountingEntropy final : public Entropy {
 public:
  void fill(std::span<std::uint8_t> bytes) override {
    for (std::uint8_t& byte : bytes) byte = next_++;
  }

 private:
  std::uint8_t next_ = 0;
};

class SodiumSecretsTest : public testing::Test {
 protected:
  CountingEntropy entropy_;
  SodiumSecrets::Key key_{1, 2, 3};
  SodiumSecrets secrets_{"pepper", key_, entropy_};
};

// printf '%s' pepperacme | sha256sum
TEST_F(SodiumSecretsTest, HashesTheSaltFollowedByTheValue) {
  EXPECT_EQ(secrets_.account_id("acme").value,
            "f4098a2b167aa8824897221745a5915f7c2bb986bc2af1f84051b7aeb790dbf1");
  EXPECT_EQ(secrets_.api_key_hash("acme").value, secrets_.account_id("acme").value);
  EXPECT_NE(secrets_.account_id("acmf"), secrets_.account_id("acme"));
}

TEST_F(SodiumSecretsTest, HashesARequestWithTheSaltAndShowsNothingOfIt) {
  const std::string hash = secrets_.request_hash("request;4:acme;3:k3y;").value;
  EXPECT_EQ(hash.size(), 64U);
  EXPECT_EQ(hash.find("k3y"), std::string::npos);
  EXPECT_EQ(secrets_.request_hash("request;4:acme;3:k3y;").value, hash);
  EXPECT_NE(secrets_.request_hash("request;4:acme;3:k3z;").value, hash);
  const SodiumSecrets other{"salt", key_, entropy_};
  EXPECT_NE(other.request_hash("request;4:acme;3:k3y;").value, hash);
}

// printf '%s' abc | sha256sum: the vector of FIPS 180
TEST_F(SodiumSecretsTest, HashesANonceWithoutTheSalt) {
  EXPECT_EQ(secrets_.nonce_hash({"abc"}).value,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(SodiumSecretsTest, OpensWhatItSealedAndSealsEachTimeAnew) {
  const std::string sealed = secrets_.seal("key-of-acme");
  EXPECT_EQ(*secrets_.open(sealed), "key-of-acme");
  EXPECT_EQ(*secrets_.open(secrets_.seal("")), "");
  const std::string again = secrets_.seal("key-of-acme");
  EXPECT_NE(again, sealed);
  EXPECT_EQ(*secrets_.open(again), "key-of-acme");
  EXPECT_EQ(sealed.find("key-of-acme"), std::string::npos);
}

// The nonce comes first and in the clear: 24 bytes, 0 to 23, are these 32 characters.
TEST_F(SodiumSecretsTest, SealsAsBase64OfNonceAndBox) {
  const std::string sealed = secrets_.seal("k");
  EXPECT_EQ(sealed.substr(0, 32), "AAECAwQFBgcICQoLDA0ODxAREhMUFRYX");
  EXPECT_EQ(sealed.size(), 56U);  // base64 of 24 + 16 + 1 bytes
}

TEST_F(SodiumSecretsTest, RefusesWhatAnotherKeySealedAndWhatWasTamperedWith) {
  SodiumSecrets::Key other_key = key_;
  other_key[31] = 9;
  SodiumSecrets other{"pepper", other_key, entropy_};
  EXPECT_EQ(secrets_.open(other.seal("key-of-acme")).error().kind, Failure::corrupt);

  std::string sealed = secrets_.seal("key-of-acme");
  sealed[40] = sealed[40] == 'A' ? 'B' : 'A';
  EXPECT_EQ(secrets_.open(sealed).error().kind, Failure::corrupt);
  for (const std::string text : {"", "AAAA", "not base64!", "key-of-acme"})
    EXPECT_EQ(secrets_.open(text).error().kind, Failure::corrupt) << text;
}

TEST_F(SodiumSecretsTest, NeverPutsASecretIntoAFailure) {
  const auto opened = secrets_.open("key-of-acme");
  EXPECT_EQ(opened.error().message.find("key-of-acme"), std::string::npos);
  EXPECT_EQ(opened.error().message.find("pepper"), std::string::npos);
}

}  // namespace
}  // namespace coderunner
