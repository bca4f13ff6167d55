#include "executor/script_link.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include "executor/poll_until.h"
#include "executor/protocol.h"

namespace coderunner::executor {

namespace {

// That the process is there is not enough: nothing may begin for one that could not confine itself.
Result<Done> await_ready(int socket, MonoTime until, const Clock& clock) {
  FrameReader reader;
  for (;;) {
    pollfd readable{socket, POLLIN, 0};
    if (!poll_until({&readable, 1}, until, clock)) break;
    if (reader.pull(socket) == FrameReader::Pulled::end) break;
    const auto first = reader.next();
    if (!first) break;
    if (!*first) continue;
    if (**first == kScriptReady) return Done{};
    return fail(Failure::unavailable, "the script's process can not be confined: " + **first);
  }
  return fail(Failure::unavailable, "the script's process did not get ready");
}

// It has nothing more to say, so a word from it is no reason to go on either.
bool has_gone(int client) {
  char byte = 0;
  const ssize_t got = ::recv(client, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

}  // namespace

Result<ScriptLink> ScriptLink::ask_once(const MasterLink& master, const ScriptLimits& limits,
                                        const Clock& clock) {
  auto frames = make_byte_stream();
  if (!frames) return frames.error();
  auto control = make_channel();
  if (!control) return control.error();
  const std::array<int, 2> passed{frames->second.get(), control->second.get()};
  if (!master.say(kSpawn, spawn_text(limits), passed))
    return fail(Failure::unavailable, "the executor's master does not answer");
  frames->second.close();  // the zygote's copies alone keep the other ends open
  control->second.close();

  const MonoTime until = clock.mono_now() + limits::kScriptStart;
  pollfd started{control->first.get(), POLLIN, 0};
  poll_until({&started, 1}, until, clock);
  const Received received = receive_message(control->first.get());
  if (std::holds_alternative<NothingThere>(received))
    return fail(Failure::unavailable, "no script process came in time");
  const auto* message = std::get_if<Message>(&received);
  if (message == nullptr) return fail(Failure::conflict, "the zygote has died");
  if (message->verb != kStarted)
    return fail(Failure::unavailable, "no script process: " + message->text);
  const auto ready = await_ready(frames->first.get(), until, clock);
  if (!ready) return ready.error();
  return ScriptLink{std::move(frames->first), std::move(control->first)};
}

Result<ScriptLink> ScriptLink::request(MasterLink& master, const ScriptLimits& limits,
                                       const Clock& clock) {
  auto first = ask_once(master, limits, clock);
  // A zygote that died with the request unread: the master has started another by now.
  if (first || first.error().kind != Failure::conflict) return first;
  auto second = ask_once(master, limits, clock);
  if (second) return second;
  return fail(Failure::unavailable, second.error().message);
}

std::optional<RunEnd> ScriptLink::send(std::string_view json, RunWatch& watch,
                                       const Clock& clock) const {
  const std::string frame = to_frame(json);
  for (std::size_t at = 0; at < frame.size();) {
    const ssize_t sent =
        ::send(socket_.get(), frame.data() + at, frame.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      at += static_cast<std::size_t>(sent);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return std::nullopt;
    std::vector<pollfd> polled{{socket_.get(), POLLOUT, 0}};
    for (const int fd : watch.descriptors()) polled.push_back({fd, POLLIN, 0});
    poll_until(polled, watch.wall(), clock);
    if (const auto end = watch.look()) return end;
  }
  return std::nullopt;
}

std::optional<RunEnd> ScriptLink::look() {
  while (!wait_status_ && !is_lost_) {
    const Received received = receive_message(control_.get());
    if (std::holds_alternative<NothingThere>(received)) return std::nullopt;
    if (std::holds_alternative<PeerGone>(received)) is_lost_ = true;
    const auto* message = std::get_if<Message>(&received);
    if (message == nullptr || message->verb != kEnded) continue;
    int status = 0;
    std::from_chars(message->text.data(), message->text.data() + message->text.size(), status);
    wait_status_ = status;
  }
  return wait_status_ ? RunEnd::script_ended : RunEnd::script_lost;
}

std::vector<int> RunSockets::descriptors() const {
  std::vector<int> fds{parts_.script.control()};
  if (!parts_.master.is_gone()) fds.push_back(parts_.master.descriptor());
  if (parts_.client >= 0) fds.push_back(parts_.client);
  return fds;
}

std::optional<RunEnd> RunSockets::look() {
  if (end_) return end_;
  parts_.master.read();
  end_ = parts_.script.look();
  if (!end_ && parts_.master.must_stop()) end_ = RunEnd::stop;
  if (!end_ && parts_.clock.mono_now() >= parts_.wall) end_ = RunEnd::wall;
  if (!end_ && parts_.client >= 0 && has_gone(parts_.client)) end_ = RunEnd::client_gone;
  return end_;
}

std::optional<RunEnd> RunSockets::wait_until(MonoTime until) { return wait_for(-1, 0, until); }

std::optional<RunEnd> RunSockets::wait_for(int fd, short events, MonoTime until) {
  for (;;) {
    if (const auto end = look()) return end;
    std::vector<pollfd> polled{{fd, events, 0}};
    for (const int watched : descriptors()) polled.push_back({watched, POLLIN, 0});
    const bool ready = poll_until(polled, std::min(until, parts_.wall), parts_.clock);
    if (const auto end = look()) return end;
    if (polled.front().revents != 0) return std::nullopt;
    if (!ready && parts_.clock.mono_now() >= until) return std::nullopt;
  }
}

}  // namespace coderunner::executor
