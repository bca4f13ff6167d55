#include "executor/test_call.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <utility>

#include "domain/limits.h"
#include "domain/sent_changes.h"
#include "executor/frame.h"
#include "executor/poll_until.h"
#include "executor/run_log.h"

namespace coderunner::executor {
namespace {

using TestAnswer = std::variant<TestReport, TestRefused>;

class Hold {
 public:
  Hold(TestCall call, const Clock& clock)
      : call_(std::move(call)),
        clock_(clock),
        started_(clock.mono_now()),
        // The master kills a worker that outstays the wall before this; it may lie still itself.
        until_(started_ + limits::kScriptStart * 2 + call_.wall + limits::kMasterKillAfterWall +
               limits::kTestExchange) {}

  TestAnswer run(const std::string& json) {
    if (auto ended = send(to_frame(json))) return *std::move(ended);
    for (;;) {
      const auto pulled = reader_.pull(call_.lane.get());
      if (auto answer = take_frames()) return *std::move(answer);
      if (pulled == FrameReader::Pulled::end)
        return ended("lost: the executor's worker of this run has died");
      if (pulled == FrameReader::Pulled::some) continue;
      if (auto answer = wait_for(POLLIN)) return *std::move(answer);
    }
  }

 private:
  std::optional<TestAnswer> send(const std::string& frame) {
    for (std::size_t at = 0; at < frame.size();) {
      const ssize_t sent = ::send(call_.lane.get(), frame.data() + at, frame.size() - at,
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) at += static_cast<std::size_t>(sent);
      if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
        return std::nullopt;  // what it said before it went, and its end, are read next
      if (sent >= 0) continue;
      if (auto answer = wait_for(POLLOUT)) return answer;
    }
    return std::nullopt;
  }

  std::optional<TestAnswer> take_frames() {
    for (;;) {
      const auto frame = reader_.next();
      if (!frame) return ended("lost: " + frame.error().message);
      if (!*frame) return std::nullopt;
      auto said = parse_from_test(**frame);
      if (!said) return ended("lost: " + said.error().message);
      if (auto answer = take(*std::move(said))) return answer;
    }
  }

  std::optional<TestAnswer> take(FromTest said) {
    if (auto* refused = std::get_if<TestRefused>(&said)) return TestAnswer{std::move(*refused)};
    if (auto* outcome = std::get_if<Outcome>(&said)) return TestAnswer{report(std::move(*outcome))};
    if (auto* line = std::get_if<LogLine>(&said)) {
      keep(std::move(*line));
    } else {
      has_started_ = true;
      started_ = clock_.mono_now();
    }
    return std::nullopt;
  }

  void keep(LogLine line) {
    // Apart from the log, which may be cut: what had been sent is said whole.
    if (line.call && line.call->method != "GET")
      changes_.push_back({{}, line.at, line.level, {}, line.call});
    bytes_ += line.message.size() + limits::kLogLineOverhead;
    if (line.call) bytes_ += line.call->path.size();
    if (is_cut_) return;
    is_cut_ = bytes_ > limits::kMaxTestLogBytes;
    if (is_cut_) line = {{}, line.at, "warn", "the answer's log is cut here", std::nullopt};
    logs_.push_back(std::move(line));
  }

  std::optional<TestAnswer> wait_for(short events) {
    std::array<pollfd, 3> polled{{{call_.lane.get(), events, 0},
                                  {call_.client.get(), POLLRDHUP, 0},
                                  {call_.cut, POLLIN, 0}}};
    if (!poll_until(polled, until_, clock_)) return ended("lost: the executor does not answer");
    if (polled[1].revents != 0) return ended("client gone: nobody waits for this run any more");
    // What the worker has still said comes first.
    if (polled[0].revents == 0 && polled[2].revents != 0)
      return ended("stopped: the executor was stopped");
    return std::nullopt;
  }

  TestAnswer ended(const std::string& why) {
    if (!has_started_) return TestRefused{"nothing ran: " + why};
    return report({ErrorCode::ended_from_outside,
                   storable_text(ended_from_outside(why, sent_changes(changes_)),
                                 limits::kMaxErrorMessageBytes)});
  }

  TestReport report(Outcome outcome) {
    return {std::move(outcome), std::chrono::round<Millis>(clock_.mono_now() - started_),
            std::move(logs_)};
  }

  TestCall call_;
  const Clock& clock_;
  MonoTime started_;
  MonoTime until_;
  FrameReader reader_;
  bool has_started_ = false;
  std::vector<LogLine> logs_;
  std::vector<LogLine> changes_;
  std::size_t bytes_ = 0;
  bool is_cut_ = false;
};

}  // namespace

TestAnswer hold_test(TestCall call, const TestRequest& request, const Clock& clock) {
  const std::string json = test_request_json(request);
  if (json.size() > limits::kMaxFrameBytes)
    return TestReport{{ErrorCode::script_error, "source and payload together are too large to run"},
                      Millis{0},
                      {}};
  return Hold{std::move(call), clock}.run(json);
}

}  // namespace coderunner::executor
