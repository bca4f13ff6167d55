// Workers nobody needs any more, on a clock that is turned; and what a worker refuses by itself.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "domain/limits.h"
#include "executor/pool.h"
#include "tests/integration/executor/pool_fixture.h"

namespace coderunner::executor_test {
namespace {

using namespace executor;

class PoolIdleTest : public PoolTest {
 protected:
  void SetUp() override {
    PoolTest::SetUp();
    const std::string text = to_text(setup_);
    settings_ = Descriptor{::memfd_create("settings", MFD_CLOEXEC)};
    ASSERT_EQ(::pwrite(settings_.get(), text.data(), text.size(), 0),
              static_cast<ssize_t>(text.size()));
    pool_.emplace(PoolParts{pool_settings_, board_, settings_.get(), turned_, told_});
  }
  void TearDown() override {
    for (PoolWorker& worker : pool_->workers()) ::kill(worker.pid, SIGKILL);
    PoolTest::TearDown();
  }

  // A connection with `form` on it, handed over; its client's end.
  Descriptor hand_over(const std::string& form) {
    auto ends = *make_byte_stream();
    const std::string request =
        "POST /codeRunner/runAsync HTTP/1.1\r\nContent-Length: " + std::to_string(form.size()) +
        "\r\n\r\n" + form;
    EXPECT_EQ(::send(ends.first.get(), request.data(), request.size(), 0),
              static_cast<ssize_t>(request.size()));
    EXPECT_TRUE(pool_->hand_over(ends.second));
    return std::move(ends.first);
  }
  bool all_are_idle() {
    return eventually([this] {
      bool idle = true;
      for (PoolWorker& worker : pool_->workers()) {
        Received received = receive_message(worker.channel.get());
        if (auto* message = std::get_if<Message>(&received)) pool_->hear(worker, *message);
        idle = idle && !worker.is_busy;
      }
      return idle;
    });
  }

  fakes::TurnedClock turned_;
  PoolSettings pool_settings_;
  Scoreboard board_ = std::move(*Scoreboard::create(8));
  Descriptor settings_;
  std::optional<Pool> pool_;
};

// The test lane's: most days nobody needs it.
TEST_F(PoolIdleTest, APoolThatKeepsNoWorkerLetsTheLastOneGoToo) {
  pool_.emplace(PoolParts{.settings = pool_settings_,
                          .board = board_,
                          .settings_descriptor = settings_.get(),
                          .clock = turned_,
                          .events = told_,
                          .kept_idle = 0});
  ASSERT_TRUE(read_reply(hand_over("jobId=1")) && all_are_idle());
  EXPECT_TRUE(pool_->tend(turned_.mono_now())) << "it wants to be called again";
  EXPECT_FALSE(pool_->workers().front().is_leaving);
  turned_.advance(limits::kWorkerIdle);
  pool_->tend(turned_.mono_now());
  EXPECT_TRUE(pool_->workers().front().is_leaving);
}

TEST_F(PoolIdleTest, AWorkerBeyondTheOneKeptIsLetGoAfterAMinute) {
  const auto first = hand_over("jobId=1"), second = hand_over("jobId=1");
  EXPECT_EQ(pool_->workers().size(), 2U);
  ASSERT_TRUE(read_reply(first) && read_reply(second) && all_are_idle());

  turned_.advance(limits::kWorkerIdle - Millis{1});
  pool_->tend(turned_.mono_now());
  for (const PoolWorker& worker : pool_->workers()) EXPECT_FALSE(worker.is_leaving);
  turned_.advance(Millis{1});
  pool_->tend(turned_.mono_now());

  pid_t gone = 0;
  int status = -1;
  ASSERT_TRUE(eventually([&] { return (gone = ::waitpid(-1, &status, WNOHANG)) > 0; }));
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(pool_->bury(gone, status));
  EXPECT_EQ(pool_->workers().size(), 1U);
  EXPECT_EQ(board_.children(), 1);
  EXPECT_FALSE(told_.has("worker_died"));
  turned_.advance(limits::kWorkerIdle * 10);
  pool_->tend(turned_.mono_now());
  EXPECT_FALSE(pool_->workers().front().is_leaving) << "one is kept";
}

TEST_F(PoolIdleTest, AnIdleWorkerServesTheNextConnection) {
  ASSERT_TRUE(read_reply(hand_over("jobId=1")) && all_are_idle());
  ASSERT_TRUE(read_reply(hand_over("jobId=1")) && all_are_idle());
  EXPECT_EQ(pool_->workers().size(), 1U);
}

TEST_F(PoolIdleTest, ARequestWithoutItsPartsIsRefusedBeforeAnythingStarts) {
  const auto answer_to = [this](const char* form) {
    const Reply reply = read_reply(hand_over(form)).value_or(Reply{});
    return std::to_string(reply.status) + " " + reply.body.substr(0, 20);
  };
  EXPECT_EQ(answer_to("jobId=1"), "403 {\"error\":{\"code\":112");
  EXPECT_EQ(answer_to("jobId=1&asyncNonce="), "403 {\"error\":{\"code\":112");
  EXPECT_EQ(answer_to("asyncNonce=n1"), "403 {\"error\":{\"code\":113");
  EXPECT_EQ(answer_to("jobId=1x&asyncNonce=n1"), "403 {\"error\":{\"code\":113");
  EXPECT_EQ(answer_to("jobId=-1&asyncNonce=n1"), "403 {\"error\":{\"code\":113");
  EXPECT_EQ(answer_to("jobId=99999999999999999999&asyncNonce=n1"), "403 {\"error\":{\"code\":113");
}

TEST_F(PoolIdleTest, WithoutAMasterToPassItOnNothingBegins) {
  ledger_->admit(1, "log('never')");
  const auto client = hand_over("jobId=1&asyncNonce=n1");
  for (PoolWorker& worker : pool_->workers()) worker.channel.close();
  EXPECT_EQ(read_reply(client).value_or(Reply{}).status, 503);
  EXPECT_EQ(ledger_->begins(1), 0);
}

}  // namespace
}  // namespace coderunner::executor_test
