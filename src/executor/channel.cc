#include "executor/channel.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/ensure.h"

namespace coderunner::executor {
namespace {

constexpr std::size_t kMaxMessage = 16UL * 1024;
constexpr std::size_t kMaxDescriptors = 4;

Result<DescriptorPair> make_pair_of(int type) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(Failure::unavailable, std::string{"socketpair: "} + std::strerror(errno));
  return DescriptorPair{Descriptor{ends[0]}, Descriptor{ends[1]}};
}

void take_descriptors(msghdr& header, std::vector<Descriptor>& into) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      into.emplace_back(fd);
    }
  }
}

}  // namespace

Result<DescriptorPair> make_channel() { return make_pair_of(SOCK_SEQPACKET); }
Result<DescriptorPair> make_byte_stream() { return make_pair_of(SOCK_STREAM); }

bool send_message(int channel, std::string_view verb, std::string_view text,
                  std::span<const int> descriptors) {
  ensure(descriptors.size() <= kMaxDescriptors, "too many descriptors in one message");
  std::string bytes{verb};
  if (!text.empty()) bytes.append(" ").append(text.substr(0, kMaxMessage - verb.size() - 1));

  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxDescriptors)> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t sent = 0;
  do sent = ::sendmsg(channel, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(bytes.size());
}

Received receive_message(int channel) {
  std::string bytes(kMaxMessage, '\0');
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxDescriptors)> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();

  ssize_t got = 0;
  do got = ::recvmsg(channel, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return NothingThere{};
  if (got <= 0) return PeerGone{};  // nobody sends empty messages

  Message message;
  take_descriptors(header, message.descriptors);
  bytes.resize(static_cast<std::size_t>(got));
  const std::size_t space = std::min(bytes.find(' '), bytes.size());
  message.verb = bytes.substr(0, space);
  if (space < bytes.size()) message.text = bytes.substr(space + 1);
  return message;
}

std::string spawn_text(const ScriptLimits& limits) {
  return std::to_string(limits.loop_budget.count()) + " " + std::to_string(limits.memory);
}

std::optional<ScriptLimits> parse_spawn_text(std::string_view text) {
  std::int64_t budget_ms = 0;
  ScriptLimits limits;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, budget_ms);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != ' ') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, limits.memory);
  if (second.ec != std::errc{} || second.ptr != end) return std::nullopt;
  limits.loop_budget = Millis{budget_ms};
  return limits;
}

}  // namespace coderunner::executor
