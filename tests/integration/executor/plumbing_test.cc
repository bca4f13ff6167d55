// The sockets and the memory the executor's processes share.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "domain/limits.h"
#include "executor/channel.h"
#include "executor/frame.h"
#include "executor/scoreboard.h"

namespace coderunner::executor_test {
namespace {

using namespace executor;

TEST(AChannel, CarriesMessagesWholeAndInOrderWithTheirDescriptors) {
  auto ends = *make_channel();
  int pipe_ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const Descriptor read{pipe_ends[0]};
  {
    const Descriptor write{pipe_ends[1]};
    const int passed[] = {write.get()};
    EXPECT_TRUE(send_message(ends.first.get(), "spawn", "a b", passed));
    EXPECT_TRUE(send_message(ends.first.get(), "stop"));
  }
  auto first = std::get<Message>(receive_message(ends.second.get()));
  EXPECT_EQ(first.verb, "spawn");
  EXPECT_EQ(first.text, "a b");
  ASSERT_EQ(first.descriptors.size(), 1U);
  EXPECT_EQ(::write(first.descriptors[0].get(), "x", 1), 1);
  EXPECT_EQ(std::get<Message>(receive_message(ends.second.get())).verb, "stop");
  EXPECT_TRUE(std::holds_alternative<NothingThere>(receive_message(ends.second.get())));
}

TEST(AChannel, TellsThatItsOtherEndIsGone) {
  auto ends = *make_channel();
  ends.first.close();
  EXPECT_TRUE(std::holds_alternative<PeerGone>(receive_message(ends.second.get())));
  EXPECT_FALSE(send_message(ends.second.get(), "idle"));
}

TEST(AChannel, NeverBlocksTheSender) {
  auto ends = *make_channel();
  int sent = 0;
  while (sent < 1'000'000 && send_message(ends.first.get(), "idle")) ++sent;
  EXPECT_LT(sent, 1'000'000);
  EXPECT_GT(sent, 10);
}

TEST(AnUnreadMessage, ClosesItsDescriptorsWithTheChannel) {
  auto ends = *make_channel();
  auto pair = *make_channel();
  const int passed[] = {pair.second.get()};
  ASSERT_TRUE(send_message(ends.first.get(), "spawn", {}, passed));
  pair.second.close();
  EXPECT_TRUE(std::holds_alternative<NothingThere>(receive_message(pair.first.get())));
  ends.second.close();  // dead before it read
  EXPECT_TRUE(std::holds_alternative<PeerGone>(receive_message(pair.first.get())));
}

TEST(Frames, ArriveWholeHoweverTheyAreCut) {
  auto ends = *make_byte_stream();
  const std::string wire = to_frame("first") + to_frame("") + to_frame(std::string(5'000, 'x'));
  FrameReader reader;
  std::vector<std::string> got;
  for (const char byte : wire) {
    ASSERT_EQ(::send(ends.first.get(), &byte, 1, 0), 1);
    ASSERT_EQ(reader.pull(ends.second.get()), FrameReader::Pulled::some);
    for (auto frame = reader.next(); frame && *frame; frame = reader.next()) got.push_back(**frame);
  }
  EXPECT_EQ(got, (std::vector<std::string>{"first", "", std::string(5'000, 'x')}));
  EXPECT_EQ(reader.pull(ends.second.get()), FrameReader::Pulled::nothing);
  ends.first.close();
  EXPECT_EQ(reader.pull(ends.second.get()), FrameReader::Pulled::end);
}

TEST(Frames, ThatClaimTooMuchAreRefusedBeforeTheyAreRead) {
  auto ends = *make_byte_stream();
  ASSERT_EQ(::send(ends.first.get(), "\xff\xff\xff\xff", 4, 0), 4);
  FrameReader reader;
  reader.pull(ends.second.get());
  const auto frame = reader.next();
  ASSERT_FALSE(frame.has_value());
  EXPECT_EQ(frame.error().kind, Failure::corrupt);
}

TEST(Frames, CrossBetweenTheBlockingEndAndTheOther) {
  auto ends = *make_byte_stream();
  const std::string large(limits::kMaxFrameBytes, 'y');
  std::thread script{[&] { EXPECT_TRUE(write_frame(ends.first.get(), large)); }};
  FrameReader reader;
  std::optional<std::string> frame;
  while (!frame) {
    reader.pull(ends.second.get());
    frame = *reader.next();
  }
  script.join();
  EXPECT_TRUE(*frame == large);
  ASSERT_TRUE(write_frame(ends.second.get(), "back"));
  EXPECT_EQ(read_frame(ends.first.get()), "back");
  ends.second.close();
  EXPECT_EQ(read_frame(ends.first.get()), std::nullopt);
}

TEST(TheScoreboard, IsSeenByEverybodyWhoHasItsMemory) {
  auto mine = *Scoreboard::create(3);
  auto theirs = *Scoreboard::map(Descriptor{::dup(mine.descriptor())});
  EXPECT_EQ(theirs.slots(), 3);
  EXPECT_EQ(theirs.children(), 0);
  mine.assign(1, 4711);
  const MonoTime now{Millis{5'000}};
  const RunId run{"0123456789abcdef0123456789abcdef"};
  theirs.enter(1, Stage::beginning, now);
  theirs.note_run(1, run);
  EXPECT_EQ(mine.read(1), (SlotView{4711, Stage::beginning, now, run, std::nullopt}));
  theirs.note_execution(1, ExecutionId{9});
  EXPECT_EQ(mine.read(1), (SlotView{4711, Stage::beginning, now, run, ExecutionId{9}}));
  EXPECT_EQ(mine.children(), 1);
  mine.count_max_children_reached();
  EXPECT_EQ(theirs.max_children_reached(), 1U);
  theirs.forget_run(1);
  EXPECT_EQ(mine.read(1).run, std::nullopt);
  mine.clear(1);
  EXPECT_EQ(theirs.read(1), SlotView{});
}

TEST(TheScoreboard, IsNotMadeOfJustAnyDescriptor) {
  auto ends = *make_channel();
  EXPECT_FALSE(Scoreboard::map(std::move(ends.first)));
}

}  // namespace
}  // namespace coderunner::executor_test
