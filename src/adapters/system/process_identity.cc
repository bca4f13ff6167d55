#include "adapters/system/process_identity.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <vector>

#include "adapters/system/file.h"

namespace coderunner {
namespace {

constexpr std::size_t kMaxProcFileBytes = 4096;  // one page: what these entries fit in

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(separator, at);
    parts.push_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) return parts;
    at = end + 1;
  }
}

std::optional<ProcessStat> read_process_stat(int pid) {
  const auto text = read_file(fmt::format("/proc/{}/stat", pid), kMaxProcFileBytes);
  return text ? parse_process_stat(*text) : std::nullopt;
}

// A dead process whose parent has not collected it keeps its pid, for as long as that parent likes.
// Its last thread ran its last instruction: with one thread left this is as good a proof as a free
// pid. (A leader that ended before its other threads is a zombie too, hence the count.)
bool is_corpse(const ProcessStat& stat) {
  return (stat.state == 'Z' || stat.state == 'X') && stat.threads <= 1;
}

}  // namespace

ExecutorId to_executor_id(const ProcessIdentity& identity) {
  return ExecutorId{fmt::format("{}|{}|{}|{}|{}", identity.host, identity.boot_id,
                                identity.pid_namespace, identity.pid, identity.start_time)};
}

std::optional<ProcessIdentity> parse_executor_id(const ExecutorId& id) {
  const auto parts = split(id.value, '|');
  if (parts.size() != 5) return std::nullopt;
  const auto pid = parse_number<int>(parts[3]);
  const auto start_time = parse_number<std::uint64_t>(parts[4]);
  // kill(0) and kill(-1) would ask about whole groups.
  if (!pid || *pid <= 0 || !start_time) return std::nullopt;
  return ProcessIdentity{std::string{parts[0]}, std::string{parts[1]}, std::string{parts[2]}, *pid,
                         *start_time};
}

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 >= text.size()) return std::nullopt;
  // Field 3, the state, follows the name; proc(5) counts from 1.
  const auto fields = split(text.substr(name_end + 2), ' ');
  constexpr std::size_t kThreads = 20 - 3, kStartTime = 22 - 3;
  if (fields.size() <= kStartTime || fields[0].size() != 1) return std::nullopt;
  const auto threads = parse_number<std::int64_t>(fields[kThreads]);
  const auto start_time = parse_number<std::uint64_t>(fields[kStartTime]);
  if (!threads || !start_time) return std::nullopt;
  return ProcessStat{fields[0][0], *threads, *start_time};
}

Result<ProcessIdentity> own_identity() {
  ProcessIdentity self;
  utsname machine{};
  if (uname(&machine) != 0)
    return fail(Failure::unavailable,
                fmt::format("cannot read the host's name: {}", std::strerror(errno)));
  self.host = machine.nodename;
  std::replace(self.host.begin(), self.host.end(), '|', '_');

  const auto boot_id = read_file("/proc/sys/kernel/random/boot_id", kMaxProcFileBytes);
  if (!boot_id) return fail(Failure::unavailable, boot_id.error().message);
  self.boot_id = boot_id->substr(0, boot_id->find('\n'));

  struct stat name_space {};
  if (stat("/proc/self/ns/pid", &name_space) != 0)
    return fail(Failure::unavailable,
                fmt::format("cannot read /proc/self/ns/pid: {}", std::strerror(errno)));
  self.pid_namespace = fmt::format("{}", name_space.st_ino);

  self.pid = getpid();
  const auto own_stat = read_process_stat(self.pid);
  if (!own_stat)
    return fail(Failure::unavailable, fmt::format("cannot read /proc/{}/stat", self.pid));
  self.start_time = own_stat->start_time;
  return self;
}

Liveness SystemProcessProbe::probe(const ExecutorId& executor) const {
  const auto process = parse_executor_id(executor);
  // The same host name with another boot id may be a clone or another machine of that name.
  if (!process || process->host != self_.host || process->boot_id != self_.boot_id ||
      process->pid_namespace != self_.pid_namespace)
    return Liveness::alive;
  if (kill(process->pid, 0) != 0 && errno == ESRCH) return Liveness::gone;
  // Between kill and this read the pid may have been freed and taken again: either answer is right.
  const auto stat = read_process_stat(process->pid);
  if (stat && (stat->start_time != process->start_time || is_corpse(*stat))) return Liveness::gone;
  return Liveness::alive;
}

}  // namespace coderunner
