// Frames on the byte stream between a script and its broker: a length of four bytes (host order:
// both ends are this machine) and that many bytes. The script's end blocks; the worker's end never
// does.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace coderunner::executor {

std::string to_frame(std::string_view content);

// The script's end. False or nullopt once the other end is gone.
bool write_frame(int socket, std::string_view content);
std::optional<std::string> read_frame(int socket);

// The worker's end: collects what has arrived and cuts it into frames.
class FrameReader {
 public:
  enum class Pulled { some, nothing, end };
  // Reads once, without blocking. `end`: closed by the other side (also by its death).
  Pulled pull(int socket);
  // The next whole frame, nullopt where none is there yet; corrupt where it claims more than
  // limits::kMaxFrameBytes.
  Result<std::optional<std::string>> next();

 private:
  std::string bytes_;
  std::size_t taken_ = 0;
};

}  // namespace coderunner::executor
