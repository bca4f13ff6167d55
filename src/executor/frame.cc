#include "executor/frame.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/ensure.h"
#include "domain/limits.h"

namespace coderunner::executor {
namespace {

constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);
constexpr std::size_t kPullBytes = 64UL * 1024;

std::size_t length_at(const char* bytes) {
  std::uint32_t length = 0;
  std::memcpy(&length, bytes, kLengthBytes);
  return length;
}

bool read_exactly(int socket, char* into, std::size_t count) {
  while (count > 0) {
    const ssize_t got = ::recv(socket, into, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into += got;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

std::string to_frame(std::string_view content) {
  ensure(content.size() <= limits::kMaxFrameBytes, "frame too large");
  const auto length = static_cast<std::uint32_t>(content.size());
  std::string frame(kLengthBytes, '\0');
  std::memcpy(frame.data(), &length, kLengthBytes);
  return frame.append(content);
}

bool write_frame(int socket, std::string_view content) {
  const std::string frame = to_frame(content);
  for (std::size_t at = 0; at < frame.size();) {
    const ssize_t sent = ::send(socket, frame.data() + at, frame.size() - at, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += static_cast<std::size_t>(sent);
  }
  return true;
}

std::optional<std::string> read_frame(int socket) {
  char header[kLengthBytes];
  if (!read_exactly(socket, header, kLengthBytes)) return std::nullopt;
  const std::size_t length = length_at(header);
  if (length > limits::kMaxFrameBytes) return std::nullopt;
  std::string content(length, '\0');
  if (!read_exactly(socket, content.data(), length)) return std::nullopt;
  return content;
}

FrameReader::Pulled FrameReader::pull(int socket) {
  if (taken_ > 0) {
    bytes_.erase(0, taken_);
    taken_ = 0;
  }
  const std::size_t before = bytes_.size();
  bytes_.resize(before + kPullBytes);
  ssize_t got = 0;
  do got = ::recv(socket, bytes_.data() + before, kPullBytes, MSG_DONTWAIT);
  while (got < 0 && errno == EINTR);
  const int error = errno;
  bytes_.resize(before + static_cast<std::size_t>(got > 0 ? got : 0));
  if (got > 0) return Pulled::some;
  return got < 0 && (error == EAGAIN || error == EWOULDBLOCK) ? Pulled::nothing : Pulled::end;
}

Result<std::optional<std::string>> FrameReader::next() {
  const std::size_t there = bytes_.size() - taken_;
  if (there < kLengthBytes) return std::optional<std::string>{};
  const std::size_t length = length_at(bytes_.data() + taken_);
  if (length > limits::kMaxFrameBytes)
    return fail(Failure::corrupt, "a frame longer than the protocol allows");
  if (there - kLengthBytes < length) return std::optional<std::string>{};
  std::optional<std::string> frame{bytes_.substr(taken_ + kLengthBytes, length)};
  taken_ += kLengthBytes + length;
  return frame;
}

}  // namespace coderunner::executor
