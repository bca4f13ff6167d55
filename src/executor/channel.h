// Small messages between the executor's processes over SOCK_SEQPACKET pairs, with descriptors
// attached. Who says what to whom is listed in docs of each sender; a message is one verb and the
// rest of the text. Never blocks: a peer that does not read loses the message, and the sender is
// told.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "executor/descriptor.h"
#include "executor/settings.h"

namespace coderunner::executor {

// The verbs. serve -> master, on the parent channel, whose EOF means that serve has died; kStop
// too:
inline constexpr std::string_view kTestRun = "test_run";  // + the test lane's end of a socket
// master -> worker:
inline constexpr std::string_view kHello = "hello";  // slot number
inline constexpr std::string_view kConnection =
    "connection";                                        // + the accepted socket, or kTestRun's
inline constexpr std::string_view kAbandon = "abandon";  // execution, run id, reason
inline constexpr std::string_view kStop = "stop";        // cut the run, finish its row, then exit
inline constexpr std::string_view kExit = "exit";        // you are idle: go
// worker -> master:
inline constexpr std::string_view kIdle = "idle";            // ready for the next connection
inline constexpr std::string_view kAbandoned = "abandoned";  // that row is finished
// worker -> master -> zygote:
inline constexpr std::string_view kSpawn = "spawn";  // limits, + script socket, control socket
// zygote -> master, once:
inline constexpr std::string_view kSandbox = "sandbox";  // its report, as to_text() has it
// zygote -> worker, on the control socket:
inline constexpr std::string_view kStarted = "started";  // pid
inline constexpr std::string_view kFailed = "failed";    // why there is no script process
inline constexpr std::string_view kEnded = "ended";      // wait status
// worker -> zygote, on the control socket:
inline constexpr std::string_view kKill = "kill";

struct Message {
  std::string verb;
  std::string text;
  std::vector<Descriptor> descriptors;
};
struct NothingThere {};
struct PeerGone {};
using Received = std::variant<Message, NothingThere, PeerGone>;

using DescriptorPair = std::pair<Descriptor, Descriptor>;
Result<DescriptorPair> make_channel();      // SOCK_SEQPACKET, close-on-exec
Result<DescriptorPair> make_byte_stream();  // SOCK_STREAM, close-on-exec, for frames

// False where the peer is gone or does not read. `descriptors` are copied into the message; the
// caller keeps its own.
bool send_message(int channel, std::string_view verb, std::string_view text = {},
                  std::span<const int> descriptors = {});
Received receive_message(int channel);

// The text of a spawn message.
std::string spawn_text(const ScriptLimits& limits);
std::optional<ScriptLimits> parse_spawn_text(std::string_view text);

}  // namespace coderunner::executor
