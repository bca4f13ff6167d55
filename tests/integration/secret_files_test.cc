#include "adapters/secrets/secret_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "adapters/system/system_entropy.h"
#include "tests/integration/temp_folder.h"

namespace coderunner {
namespace {

class SecretFilesTest : public testing::Test {
 protected:
  Result<LoadedSecrets> load(bool create) {
    return load_secrets(
        {.salt_file = folder_ / "var/salt", .key_file = folder_ / "var/key", .create = create},
        entropy_);
  }
  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(folder_ / "var");
    chmod(folder_.write("var/" + name, text).c_str(), 0600);
  }
  std::string message(bool create = false) {
    const auto loaded = load(create);
    return loaded ? "" : loaded.error().message;
  }

  TempFolder folder_;
  SystemEntropy entropy_;
};

const std::string kKey(64, 'a');

TEST_F(SecretFilesTest, AreMadeOnAFirstStartForTheOwnerAlone) {
  const auto loaded = load(true);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->made.size(), 2U);
  EXPECT_TRUE(loaded->warnings.empty());
  for (const std::string name : {"var/salt", "var/key"}) {
    struct stat status {};
    ASSERT_EQ(stat((folder_ / name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U) << name;
    EXPECT_EQ(folder_.read(name).size(), 65U) << name;
  }
  EXPECT_NE(folder_.read("var/salt"), folder_.read("var/key"));
  const auto entries = std::filesystem::directory_iterator{folder_ / "var"};
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 2) << "a draft was left behind";
}

TEST_F(SecretFilesTest, StayTheSameOverStarts) {
  const AccountId before = load(true)->secrets->account_id("acme");
  const auto again = load(true);
  EXPECT_EQ(again->secrets->account_id("acme"), before);
  EXPECT_TRUE(again->made.empty());
}

TEST_F(SecretFilesTest, AreTheSameForAllWhoStartAtOnce) {
  constexpr int kStarters = 8;
  std::vector<std::string> hashes(kStarters);
  std::vector<std::string> sealed(kStarters);
  {
    std::vector<std::jthread> starters;
    for (std::size_t i = 0; i < kStarters; ++i)
      starters.emplace_back([&, i] {
        const auto loaded = load(true);
        if (!loaded) return;
        hashes[i] = loaded->secrets->account_id("acme").value;
        sealed[i] = loaded->secrets->seal("key-of-acme");
      });
  }
  const auto loaded = load(false);
  ASSERT_TRUE(loaded);
  for (std::size_t i = 0; i < kStarters; ++i) {
    EXPECT_EQ(hashes[i], loaded->secrets->account_id("acme").value);
    EXPECT_EQ(loaded->secrets->open(sealed[i]).value_or(""), "key-of-acme");
  }
}

// What a start that died half-way leaves: a draft, or the salt without the key.
TEST_F(SecretFilesTest, AreCompletedAfterAStartThatDiedHalfWay) {
  write("salt.0123.draft", "half");
  write("salt", "pepper\n");
  const auto loaded = load(true);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(folder_.read("var/salt"), "pepper\n");
  EXPECT_EQ(loaded->made, std::vector<std::string>{folder_ / "var/key"});
}

TEST_F(SecretFilesTest, LoseOneNewlineAtTheEndOfTheSaltAndNoMore) {
  write("key", kKey);
  write("salt", "pepper");
  const AccountId plain = load(false)->secrets->account_id("acme");
  write("salt", "pepper\n");
  EXPECT_EQ(load(false)->secrets->account_id("acme"), plain);
  write("salt", "pepper\n\n");
  EXPECT_NE(load(false)->secrets->account_id("acme"), plain);
  write("salt", "pepper ");
  EXPECT_NE(load(false)->secrets->account_id("acme"), plain);
}

TEST_F(SecretFilesTest, AreRefusedWithoutASaltAndNeverReplaced) {
  write("key", kKey);
  for (const std::string salt : {"", "\n", " \r\n"}) {
    write("salt", salt);
    for (const bool create : {false, true}) {
      EXPECT_NE(message(create).find("var/salt is empty"), std::string::npos) << salt;
      EXPECT_EQ(folder_.read("var/salt"), salt);
    }
  }
}

TEST_F(SecretFilesTest, AreRefusedWithAMalformedKeyAndNeverReplaced) {
  write("salt", "pepper");
  for (const std::string& key : {std::string{}, kKey + "a", kKey.substr(1), kKey.substr(1) + "x",
                                 kKey + "\n\n", "0x" + kKey.substr(2)}) {
    write("key", key);
    EXPECT_NE(message(true).find("var/key is not 64 hex digits"), std::string::npos) << key;
    EXPECT_EQ(folder_.read("var/key"), key);
  }
  write("key", kKey + "\n");
  EXPECT_EQ(message(), "");
}

TEST_F(SecretFilesTest, ThatAreMissingAreNamedWithTheirSetting) {
  EXPECT_NE(message().find("var/salt does not exist"), std::string::npos);
  EXPECT_NE(message().find("secrets.salt_file"), std::string::npos);
  write("salt", "pepper");
  EXPECT_NE(message().find("secrets.key_file"), std::string::npos);
}

TEST_F(SecretFilesTest, OpenToOthersAreTakenWithAWarning) {
  write("salt", "pepper");
  write("key", kKey);
  EXPECT_TRUE(load(false)->warnings.empty());
  chmod((folder_ / "var/key").c_str(), 0640);
  const auto loaded = load(false);
  ASSERT_TRUE(loaded);
  ASSERT_EQ(loaded->warnings.size(), 1U);
  EXPECT_NE(loaded->warnings[0].find("var/key"), std::string::npos);
}

TEST_F(SecretFilesTest, ThatAreNoOrdinaryFilesAreRefusedAndNeverWaitedFor) {
  std::filesystem::create_directories(folder_ / "var/salt");
  EXPECT_EQ(load(true).error().kind, Failure::invalid_input);
  write("key", kKey);
  std::filesystem::remove(folder_ / "var/salt");
  ASSERT_EQ(mkfifo((folder_ / "var/salt").c_str(), 0600), 0);
  EXPECT_EQ(load(true).error().kind, Failure::invalid_input);
  std::filesystem::remove(folder_ / "var/salt");
  write("salt", std::string(5000, 's'));
  EXPECT_EQ(load(true).error().kind, Failure::invalid_input);
}

}  // namespace
}  // namespace coderunner
