#include <gtest/gtest.h>

#include "app/setting_rules.h"

namespace coderunner::app {
namespace {

using namespace std::chrono_literals;

// The keys of the rules that `change` breaks.
template <class Change>
std::vector<std::string> broken(Change change) {
  Settings settings;
  change(settings);
  std::vector<std::string> keys;
  for (const BrokenRule& rule : broken_rules(settings)) keys.emplace_back(rule.key);
  return keys;
}
using Keys = std::vector<std::string>;

TEST(SettingRules, HoldForTheDefaults) {
  EXPECT_EQ(broken([](Settings&) {}), Keys{});
}

TEST(SettingRules, RefuseToReapARunThatMayStillLive) {
  // 300 s x 4/3 + 10 s
  EXPECT_EQ(broken([](Settings& s) { s.reaper.running_after = 410s; }), Keys{});
  EXPECT_EQ(broken([](Settings& s) { s.reaper.running_after = 410s - 1ms; }),
            Keys{"reaper.running_after"});
  EXPECT_EQ(broken([](Settings& s) { s.executor.wall = 12min; }), Keys{"reaper.running_after"});
}

TEST(SettingRules, KeepAnOpenServerOnThisMachine) {
  const auto listen = [](const std::string& address) {
    return broken([&](Settings& s) { s.http.listen = address; });
  };
  for (const std::string address :
       {"127.0.0.1:0", "127.8.9.10:80", "[::1]:8080", "localhost:8080", "unix:var/http.sock"})
    EXPECT_EQ(listen(address), Keys{}) << address;
  for (const std::string address :
       {"0.0.0.0:8080", "[::]:8080", "192.168.1.2:80", "[::ffff:127.0.0.1]:80", "128.0.0.1:80"})
    EXPECT_EQ(listen(address), Keys{"http.listen"}) << address;
  for (const std::string address :
       {"", ":8080", "8080", "127.0.0.1", "127.0.0.1:", "::1:80", "127.0.0.1:65536", "127.0.0.1:-1",
        "queue.example:80", "unix:", "[127.0.0.1]:80", "127.0.0.1:80 "})
    EXPECT_EQ(listen(address), Keys{"http.listen"}) << address;
  EXPECT_EQ(listen("unix:" + std::string(107, 'p')), Keys{});
  EXPECT_EQ(listen("unix:" + std::string(108, 'p')), Keys{"http.listen"});
}

TEST(SettingRules, LetScriptsReachAPlainAddressOnly) {
  const auto base = [](const std::string& url) {
    return broken([&](Settings& s) { s.api.base_url = url; });
  };
  for (const std::string url :
       {"https://{account}.kanbanize.com/api/v2", "http://127.0.0.1:8099/{account}/api/v2",
        "http://[::1]:8099/{account}/api/v2", "https://api.example.com"})
    EXPECT_EQ(base(url), Keys{}) << url;
  for (const std::string url : {"",
                                "ftp://{account}.example.com",
                                "{account}.example.com",
                                "https://",
                                "https:///x",
                                "https://:80/",
                                "https://user@{account}.example.com",
                                "https://{account}.example.com/?q=1",
                                "https://{account}.example.com/#x",
                                "https://{account}.example.com/../admin",
                                "https://{account}.example.com/a b",
                                "https://{account}.example.com/\n",
                                "https://{tenant}.example.com",
                                "https://{account}.example.com/}",
                                "https://h:99999/",
                                "https://h:x/",
                                "https://[::1/",
                                "https://[::1]x/",
                                "https://[h]/",
                                "https://h]/",
                                "https://%41/",
                                "https://h\\@evil/",
                                "HTTPS://h/"})
    EXPECT_EQ(base(url), Keys{"api.base_url"}) << url;
}

TEST(SettingRules, NameWhatThisBuildCannotDo) {
  EXPECT_EQ(broken([](Settings& s) { s.gate.backend = GateBackend::memcached; }),
            Keys{"gate.backend"});
  EXPECT_EQ(broken([](Settings& s) { s.store.url = "mysql://root@127.0.0.1:3306/q"; }),
            Keys{"store.url"});
  for (const std::string url : {"", "sqlite:", "sqlite::memory:", "var/coderunner.db"})
    EXPECT_EQ(broken([&](Settings& s) { s.store.url = url; }), Keys{"store.url"}) << url;
}

TEST(SettingRules, AskForTheUrlOfAnExecutorElsewhere) {
  EXPECT_EQ(broken([](Settings& s) { s.executor.mode = ExecutorMode::http; }),
            Keys{"executor.url"});
  EXPECT_EQ(broken([](Settings& s) {
              s.executor.mode = ExecutorMode::http;
              s.executor.url = "http://10.0.0.7/codeRunner/runAsync";
            }),
            Keys{});
  EXPECT_EQ(broken([](Settings& s) { s.executor.url = "10.0.0.7"; }), Keys{"executor.url"});
  EXPECT_EQ(broken([](Settings& s) { s.executor.listen = "nowhere"; }), Keys{"executor.listen"});
  EXPECT_EQ(broken([](Settings& s) { s.executor.listen = "10.0.0.7:9000"; }), Keys{});
}

TEST(SettingRules, WantAClientsServerAndTheSecretsFilesToBeNamed) {
  EXPECT_EQ(broken([](Settings& s) { s.client.url = "queue"; }), Keys{"client.url"});
  EXPECT_EQ(broken([](Settings& s) { s.client.url = "unix:"; }), Keys{"client.url"});
  EXPECT_EQ(broken([](Settings& s) { s.client.url = "unix:var/http.sock"; }), Keys{});
  EXPECT_EQ(broken([](Settings& s) { s.client.url = "https://queue.example:8443"; }), Keys{});
  EXPECT_EQ(broken([](Settings& s) {
              s.secrets.salt_file = "";
              s.secrets.key_file = "";
            }),
            (Keys{"secrets.salt_file", "secrets.key_file"}));
}

}  // namespace
}  // namespace coderunner::app
