#include "executor/master_link.h"

#include <utility>

#include "executor/poll_until.h"

namespace coderunner::executor {

void MasterLink::read() {
  while (channel_.is_open()) {
    Received received = receive_message(channel_.get());
    if (std::holds_alternative<NothingThere>(received)) return;
    if (std::holds_alternative<PeerGone>(received)) {
      channel_.close();
      return;
    }
    Message& message = std::get<Message>(received);
    if (message.verb == kStop)
      must_stop_ = true;
    else
      waiting_.push_back(std::move(message));
  }
}

void MasterLink::await(const Clock& clock) {
  read();
  pollfd polled{descriptor(), POLLIN, 0};
  constexpr Millis kLong{60'000};  // just a round of the caller's loop
  if (!has_waiting() && !is_gone() && !must_stop_)
    poll_until({&polled, 1}, clock.mono_now() + kLong, clock);
  read();
}

std::optional<Message> MasterLink::take() {
  if (waiting_.empty()) return std::nullopt;
  std::optional<Message> oldest{std::move(waiting_.front())};
  waiting_.pop_front();
  return oldest;
}

bool MasterLink::say(std::string_view verb, std::string_view text, std::span<const int> fds) const {
  return channel_.is_open() && send_message(channel_.get(), verb, text, fds);
}

}  // namespace coderunner::executor
