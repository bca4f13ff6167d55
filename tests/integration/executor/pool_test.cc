// The pool at work: what a dispatch gets, and who outlives whom (rulings 10, 26, 27).
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <csignal>
#include <set>

#include "adapters/system/pause.h"
#include "tests/integration/executor/loopback_api.h"
#include "tests/integration/executor/pool_fixture.h"

namespace coderunner::executor_test {
namespace {

// Half a second of work, more or less, and then an end of its own.
constexpr const char* kBusy = "local n = 0 while n < 2e7 do n = n + 1 end log('counted')";

// Runs until it is stopped from outside.
constexpr const char* kEndless = "log('begun') while true do end";

TEST_F(PoolTest, ARunEndsAndItsRowSaysSo) {
  ledger_->admit(1, "log('card', event.card, execution.id)");
  start_pool();
  const Reply reply = run(1);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, R"({"error_code":null,"execution_id":1,"status":"success"})");
  EXPECT_EQ(ledger_->outcome(1), "success");
  EXPECT_EQ(ledger_->log(1), "info card\t7\t1\n");
}

TEST_F(PoolTest, ASpentNonceBeginsNothing) {
  ledger_->admit(1, "log('once')");
  start_pool();
  EXPECT_EQ(run(1).status, 200);
  const Reply again = run(1);
  EXPECT_EQ(again.status, 403);
  EXPECT_NE(again.body.find("\"code\":113"), std::string::npos) << again.body;
  EXPECT_EQ(ledger_->begins(1), 1);
  EXPECT_EQ(ledger_->log(1), "info once\n");
  EXPECT_TRUE(no_script_is_left());
}

TEST_F(PoolTest, TwoRunsShareTheTimeOnTwoWorkers) {
  ledger_->admit(1, kEndless);
  ledger_->admit(2, "log('quick')");
  start_pool();
  const auto first = post(1);
  ASSERT_TRUE(has_begun(1));
  EXPECT_EQ(run(2).status, 200);
  EXPECT_EQ(processes("cr-worker").size(), 2U);
  EXPECT_EQ(ledger_->outcome(1), "");
}

TEST_F(PoolTest, TheConnectionBeyondTheLastChildIsToldSo) {
  setup_.max_children = 2;
  for (int job = 1; job <= 3; ++job) ledger_->admit(job, kEndless);
  start_pool();
  const auto first = post(1), second = post(2);
  ASSERT_TRUE(has_begun(1) && has_begun(2));
  const Reply third = run(3);
  EXPECT_EQ(third.status, 503);
  EXPECT_NE(third.body.find("\"code\":503"), std::string::npos) << third.body;
  EXPECT_EQ(ledger_->begins(3), 0);
  EXPECT_EQ(launcher_->figures(), (executor::PoolFigures{2, 2, 2, 1}));
}

// An FPM pool counts as soon as all its children live, idle ones included.
TEST_F(PoolTest, OnlyARequestThatFindsNoRoomIsCountedHoweverManyChildrenThereAre) {
  setup_.max_children = 2;
  for (int job = 1; job <= 2; ++job) ledger_->admit(job, kBusy);
  for (int job = 3; job <= 22; ++job) ledger_->admit(job, "log('next')");
  start_pool();
  const auto first = post(1), second = post(2);
  ASSERT_TRUE(read_reply(first).has_value() && read_reply(second).has_value());
  ASSERT_EQ(launcher_->figures().children, 2);
  std::uint64_t refused = 0;  // a worker answers before it is back in its wait
  for (int job = 3; job <= 22; ++job)
    EXPECT_TRUE(eventually([&] {
      const int status = run(job).status;
      if (status == 503) ++refused;
      return status == 200;
    }));
  EXPECT_EQ(launcher_->figures().max_children_reached, refused);
  EXPECT_LT(refused, 20U);
}

TEST_F(PoolTest, ARefusedClientMaySendItsRequestToTheEndAndReadTheAnswer) {
  setup_.max_children = 1;
  ledger_->admit(1, kEndless);
  start_pool();
  const auto first = post(1);
  ASSERT_TRUE(has_begun(1));
  const auto slow = connect();
  pollfd answered{slow.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&answered, 1, 5'000), 1) << "the answer comes before the request";
  for (const std::string part :
       {"POST /codeRunner/runAsync HTTP/1.1\r\n", "Content-Length: 1\r\n", "\r\n", "x"}) {
    EXPECT_EQ(::send(slow.get(), part.data(), part.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(part.size()));
    pause(Millis{10});
  }
  EXPECT_EQ(read_reply(slow).value_or(Reply{}).status, 503);
}

TEST_F(PoolTest, TheWallEndsARunThatWillNot) {
  setup_.wall = Millis{400};
  ledger_->admit(1, kEndless);
  start_pool();
  const auto began = clock_.mono_now();
  const Reply reply = run(1);
  const auto took = std::chrono::round<Millis>(clock_.mono_now() - began);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(ledger_->outcome(1), "303 wall: still running after 400ms; it had sent no change");
  EXPECT_GE(took, Millis{400});
  EXPECT_LT(took, Millis{1'500});
  EXPECT_TRUE(no_script_is_left());
}

TEST_F(PoolTest, ARunThatEndsFromOutsideNamesTheChangesItHadSent) {
  const LoopbackApi api{[](const SeenRequest& request) {
    return request.text.starts_with("POST") ? http_answer(200, R"({"data":[{"card_id":9}]})")
                                            : LoopbackApi::kSilence;
  }};
  setup_.api = api.base() + "/{account}/api/v2";
  setup_.wall = Millis{600};
  ledger_->admit(1,
                 "local card = api.post('/cards', {title = 'x'}).data[1].card_id "
                 "log('made', card) api.delete('/cards/' .. card)");
  start_pool();
  EXPECT_EQ(run(1).status, 200);
  EXPECT_EQ(ledger_->outcome(1),
            "303 wall: still running after 600ms; it had sent 2: POST /cards: 200, DELETE "
            "/cards/9: no answer");
  EXPECT_TRUE(
      ledger_->log(1).starts_with("info sending POST /cards\ninfo POST /cards: 200\ninfo made\t9\n"
                                  "info sending DELETE /cards/9\nwarn DELETE /cards/9: "))
      << ledger_->log(1);
  ASSERT_EQ(api.seen().size(), 2U);
  EXPECT_TRUE(api.seen()[0].text.starts_with("POST /acme/api/v2/cards HTTP/1.1"));
}

TEST_F(PoolTest, AScriptThatHidesInCIsEndedByItsCpuLimit) {
  setup_.loop_budget = Millis{100};  // and 2 s of CPU beyond, rounded up
  ledger_->admit(1,
                 "local s = string.rep('a', 40) string.find(s, string.rep('a?', 40) .. "
                 "string.rep('a', 40))");
  start_pool();
  EXPECT_EQ(run(1).status, 200);
  EXPECT_EQ(ledger_->outcome(1),
            "302 the script's process used more CPU time than its loop budget allows");
}

TEST_F(PoolTest, AKilledScriptIsFatalForItsRun) {
  ledger_->admit(1, kEndless);
  start_pool();
  const auto client = post(1);
  ASSERT_TRUE(has_begun(1));
  ::kill(only("cr-script"), SIGKILL);
  EXPECT_EQ(read_reply(client).value_or(Reply{-1, {}}).status, 200);
  EXPECT_EQ(ledger_->outcome(1), "302 the script's process was killed by signal 9");
}

TEST_F(PoolTest, AKilledWorkerTakesItsScriptWithItAndAnotherFinishesTheRow) {
  ledger_->admit(1, kEndless);
  start_pool();
  const auto client = post(1);
  ASSERT_TRUE(has_begun(1));
  const int script = only("cr-script");
  ::kill(only("cr-worker"), SIGKILL);
  EXPECT_EQ(read_reply(client).value_or(Reply{-1, {}}).status, 0);
  ASSERT_TRUE(has_ended(1));
  EXPECT_EQ(ledger_->outcome(1),
            "303 reaped: its worker was killed by signal 9; it had sent no change");
  EXPECT_TRUE(eventually([&] { return ::kill(script, 0) != 0; }, Millis{3'000}));
}

TEST_F(PoolTest, TheRowOfAKilledWorkerListsWhatItHadSent) {
  const LoopbackApi api{[](const SeenRequest& request) {
    return request.text.starts_with("POST") ? http_answer(200, R"({"data":[{"card_id":9}]})")
                                            : LoopbackApi::kSilence;
  }};
  setup_.api = api.base() + "/{account}/api/v2";
  ledger_->admit(1, "api.post('/cards', {title = 'x'}) api.delete('/cards/9')");
  start_pool();
  const auto client = post(1);
  ASSERT_TRUE(eventually([&] { return api.seen().size() == 2; }, Millis{5'000}));
  ::kill(only("cr-worker"), SIGKILL);
  ASSERT_TRUE(has_ended(1));
  EXPECT_EQ(ledger_->outcome(1),
            "303 reaped: its worker was killed by signal 9; it had sent 2: POST /cards: 200, "
            "DELETE /cards/9: no answer");
}

TEST_F(PoolTest, AWorkerThatDiesBeforeItsBeginCommitsLeavesTheRowQueued) {
  ledger_->admit(1, "log('second try')");
  ledger_->kill_whoever_begins(1, FileLedger::Death::before_commit);
  start_pool();
  EXPECT_EQ(run(1).status, 0);
  EXPECT_EQ(run(1).status, 200);
  EXPECT_EQ(ledger_->outcome(1), "success");
  EXPECT_EQ(ledger_->begins(1), 1);
}

TEST_F(PoolTest, AWorkerThatDiesRightAfterItsBeginCommittedHasItsRowFinished) {
  ledger_->admit(1, "log('never')");
  ledger_->kill_whoever_begins(1, FileLedger::Death::after_commit);
  start_pool();
  EXPECT_EQ(run(1).status, 0);
  ASSERT_TRUE(has_ended(1));
  EXPECT_TRUE(ledger_->outcome(1).starts_with("303 reaped: its worker was killed"))
      << ledger_->outcome(1);
  EXPECT_EQ(ledger_->log(1), "");
  EXPECT_TRUE(no_script_is_left());
}

TEST_F(PoolTest, AStuckWorkerIsKilledByTheMasterAfterTheWall) {
  setup_.wall = Millis{200};
  ledger_->admit(1, kEndless);
  start_pool();
  const auto client = post(1);
  ASSERT_TRUE(has_begun(1));
  ::kill(only("cr-worker"), SIGSTOP);
  ASSERT_TRUE(has_ended(1, limits::kMasterKillAfterWall + Millis{5'000}));
  EXPECT_TRUE(ledger_->outcome(1).starts_with("303 reaped: wall: its worker outstayed the wall"))
      << ledger_->outcome(1);
  EXPECT_TRUE(no_script_is_left());
}

TEST_F(PoolTest, ADeadMasterLeavesTheRunToItsEndAndThenNobodyStays) {
  ledger_->admit(1, kBusy);
  start_pool();
  const auto client = post(1);
  ASSERT_TRUE(has_begun(1));
  ::kill(only("cr-master"), SIGKILL);
  const auto reply = read_reply(client);
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(ledger_->outcome(1), "success");
  EXPECT_TRUE(eventually([&] { return processes().size() == 1; })) << "the zombie is all there is";
}

TEST_F(PoolTest, ADeadMasterIsStartedAgainAndServes) {
  ledger_->admit(1, "log('after')");
  start_pool();
  ::kill(only("cr-master"), SIGKILL);
  ASSERT_TRUE(eventually([&] {
    launcher_->tend();
    return std::count(told_.names.begin(), told_.names.end(), "executor_started") == 2;
  }));
  EXPECT_EQ(run(1).status, 200);
  EXPECT_EQ(ledger_->outcome(1), "success");
}

TEST_F(PoolTest, ADeadParentEndsAcceptingButNoRun) {
  ledger_->admit(1, kBusy);
  start_pool_under_another_process();
  const auto client = post(1);
  ASSERT_TRUE(has_begun(1));
  ::kill(serve_pid_, SIGKILL);
  const auto reply = read_reply(client);
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(ledger_->outcome(1), "success");
  EXPECT_TRUE(all_gone());
}

TEST_F(PoolTest, SignalsToTheWholeGroupEndNoRun) {
  ledger_->admit(1, kBusy);
  start_pool();
  const auto client = post(1);
  ASSERT_TRUE(has_begun(1));
  for (const char* name : {"cr-master", "cr-worker", "cr-zygote", "cr-script"}) {
    ::kill(only(name), SIGTERM);
    ::kill(only(name), SIGINT);
  }
  EXPECT_EQ(read_reply(client).value_or(Reply{-1, {}}).status, 200);
  EXPECT_EQ(ledger_->outcome(1), "success");
}

TEST_F(PoolTest, AStopCutsRunsAndTheirRowsSayIt) {
  ledger_->admit(1, kEndless);
  ledger_->admit(2, kEndless);
  start_pool();
  const auto first = post(1), second = post(2);
  ASSERT_TRUE(has_begun(1) && has_begun(2));
  launcher_->stop(Millis{5'000});
  const std::string said = "303 stopped: the executor was stopped; it had sent no change";
  EXPECT_EQ(ledger_->outcome(1), said);
  EXPECT_EQ(ledger_->outcome(2), said);
  EXPECT_EQ(launcher_->exit_descriptor(), -1);
  EXPECT_TRUE(all_gone());
}

TEST_F(PoolTest, AKilledZygoteEndsItsScriptsAndTheNextRunWorks) {
  ledger_->admit(1, kEndless);
  ledger_->admit(2, "log('next')");
  start_pool();
  const auto client = post(1);
  ASSERT_TRUE(has_begun(1));
  ::kill(only("cr-zygote"), SIGKILL);
  EXPECT_EQ(read_reply(client).value_or(Reply{-1, {}}).status, 200);
  EXPECT_EQ(ledger_->outcome(1),
            "303 lost: the script's process died with its parent; it had sent no change");
  EXPECT_TRUE(no_script_is_left());
  EXPECT_EQ(run(2).status, 200);
  EXPECT_EQ(ledger_->outcome(2), "success");
}

TEST_F(PoolTest, AnOutcomeIsKeptWhileTheStoreIsAway) {
  ledger_->admit(1, kBusy);
  start_pool();
  const auto client = post(1);
  ASSERT_TRUE(has_begun(1));
  ledger_->set_away(true);
  EXPECT_TRUE(eventually([&] { return events().find("finish_waits") != std::string::npos; }));
  EXPECT_EQ(ledger_->outcome(1), "");
  EXPECT_TRUE(eventually([&] { return processes("cr-script").empty(); }));
  ledger_->set_away(false);
  EXPECT_EQ(read_reply(client).value_or(Reply{-1, {}}).status, 200);
  EXPECT_EQ(ledger_->outcome(1), "success");
  EXPECT_EQ(ledger_->log(1), "info counted\n");
}

TEST_F(PoolTest, AWorkerThatLiesStillWhileItFinishesIsKilledAndItsRowFinished) {
  setup_.finish_attempt = limits::kStoreRetryMax + Millis{1'000};
  ledger_->admit(1, kBusy);
  start_pool();
  const auto client = post(1);
  ASSERT_TRUE(has_begun(1));
  ledger_->set_away(true);
  ASSERT_TRUE(eventually([&] { return events().find("finish_waits") != std::string::npos; }));
  ::kill(only("cr-worker"), SIGSTOP);
  ledger_->set_away(false);
  ASSERT_TRUE(has_ended(1));
  EXPECT_TRUE(ledger_->outcome(1).starts_with(
      "303 reaped: its worker lay still while it wrote the outcome and was killed"))
      << ledger_->outcome(1);
}

TEST_F(PoolTest, AWorkerThatKeepsTryingToFinishIsNotKilledHoweverLongItTakes) {
  setup_.wall = Millis{1'000};
  setup_.finish_attempt = limits::kStoreRetryMax + Millis{1'000};
  ledger_->admit(1, kBusy);
  start_pool();
  const auto client = post(1);
  ASSERT_TRUE(has_begun(1));
  ledger_->set_away(true);
  ASSERT_TRUE(eventually([&] { return events().find("finish_waits") != std::string::npos; }));
  EXPECT_FALSE(eventually([&] { return events().find("worker_died") != std::string::npos; },
                          setup_.finish_attempt + Millis{2'500}));
  ledger_->set_away(false);
  ASSERT_TRUE(has_ended(1));
  EXPECT_EQ(ledger_->outcome(1), "success");
}

TEST_F(PoolTest, WhileTheStoreIsAwayNothingBegins) {
  ledger_->admit(1, "log('never')");
  ledger_->set_away(true);
  start_pool();
  EXPECT_EQ(run(1).status, 503);
  ledger_->set_away(false);
  EXPECT_EQ(run(1).status, 200);
  EXPECT_EQ(ledger_->begins(1), 1);
}

TEST_F(PoolTest, TwoHundredRunsLeaveNoProcessAndNoDescriptorBehind) {
  for (int job = 1; job <= 200; ++job) ledger_->admit(job, "log('done')");
  start_pool();
  ASSERT_EQ(run(1).status, 200);
  const auto descriptors_of = [&](const char* name) {
    std::vector<long> counts;
    for (const ProcessEntry& process : processes(name))
      counts.push_back(std::distance(
          std::filesystem::directory_iterator{"/proc/" + std::to_string(process.pid) + "/fd"},
          std::filesystem::directory_iterator{}));
    return counts;
  };
  // The init of the scripts' pid namespace, where there is one, stays.
  const auto others = [&] { return processes().size() - processes("cr-script-init").size(); };
  ASSERT_TRUE(eventually([&] { return others() == 3; }));
  const long master = descriptors_of("cr-master").front();
  const long worker = descriptors_of("cr-worker").front();
  const long zygote = descriptors_of("cr-zygote").front();
  for (int job = 2; job <= 200; ++job) ASSERT_EQ(run(job).status, 200);

  // A dispatch that comes before the last worker is back in its wait may start one more.
  EXPECT_TRUE(eventually([&] { return others() == 2 + processes("cr-worker").size(); }))
      << "no script, no zombie";
  const auto workers = static_cast<long>(processes("cr-worker").size());
  EXPECT_TRUE(eventually([&] {
    return descriptors_of("cr-master") == std::vector<long>{master + workers - 1} &&
           descriptors_of("cr-zygote") == std::vector<long>{zygote} &&
           descriptors_of("cr-worker") ==
               std::vector<long>(static_cast<std::size_t>(workers), worker);
  }));
  for (int job = 1; job <= 200; ++job) EXPECT_EQ(ledger_->outcome(job), "success");
}

TEST_F(PoolTest, NothingBeginsForAProcessThatCannotBeConfined) {
  ledger_->admit(1, "log('never')");
  start_pool_under_another_process(Parent::lone_root);
  if (!eventually([&] { return !processes("cr-zygote").empty(); }, Millis{3'000}))
    GTEST_SKIP() << "user namespaces are not to be had here";
  const Reply reply = run(1);
  EXPECT_EQ(reply.status, 503);
  EXPECT_NE(reply.body.find("can not be confined"), std::string::npos) << reply.body;
  EXPECT_EQ(ledger_->begins(1), 0);
}

TEST_F(PoolTest, AScriptsProcessIsConfined) {
  ledger_->admit(1, kEndless);
  start_pool();
  const auto client = post(1);
  ASSERT_TRUE(has_begun(1));
  const std::filesystem::path proc = "/proc/" + std::to_string(only("cr-script"));
  EXPECT_TRUE(eventually([&] { return ledger_->log(1) == "info begun\n"; }));
  std::set<std::string> descriptors;
  for (const auto& entry : std::filesystem::directory_iterator{proc / "fd"})
    descriptors.insert(entry.path().filename());
#ifdef __SANITIZE_ADDRESS__
  descriptors.erase("2");
#endif
  EXPECT_EQ(descriptors, std::set<std::string>{"3"});
  EXPECT_EQ(read_text(proc / "environ"), "");
  const std::string status = read_text(proc / "status");
  EXPECT_NE(status.find("NoNewPrivs:\t1"), std::string::npos);
#ifndef __SANITIZE_ADDRESS__
  EXPECT_NE(status.find("Seccomp:\t2"), std::string::npos) << status;
#endif
  if (::geteuid() == 0) {
    EXPECT_NE(status.find("Uid:\t65534\t65534\t65534\t65534"), std::string::npos) << status;
    EXPECT_NE(status.find("CapEff:\t0000000000000000"), std::string::npos) << status;
  }
  const std::string limits_text = read_text(proc / "limits");
  EXPECT_NE(limits_text.find("Max processes             0                    0"), std::string::npos)
      << limits_text;
  EXPECT_NE(limits_text.find("Max cpu time              62                   63"),
            std::string::npos)
      << limits_text;
}

}  // namespace
}  // namespace coderunner::executor_test
