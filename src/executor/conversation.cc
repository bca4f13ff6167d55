#include "executor/conversation.h"

#include <poll.h>

#include <variant>

#include "domain/limits.h"
#include "executor/run_outcome.h"

namespace coderunner::executor {
namespace {

constexpr std::size_t kLinesPerBatch = 64;  // of log, in one transaction
constexpr Millis kExitAfterClosing{1000};   // the zygote's word comes within a millisecond

}  // namespace

Outcome Conversation::hold(const ScriptStart& start) {
  const std::string json = to_json(start);
  if (json.size() > limits::kMaxFrameBytes)
    return {ErrorCode::script_error, "source and payload together are too large to run"};
  if (const auto end = parts_.script.send(json, parts_.watch, parts_.clock))
    return end_from_outside(*end);

  for (;;) {
    const auto pulled = reader_.pull(parts_.script.socket());
    if (auto outcome = take_frames()) return *outcome;
    if (const auto end = parts_.watch.look()) return end_from_outside(*end);
    if (pulled == FrameReader::Pulled::some) continue;
    if (pulled == FrameReader::Pulled::end) return silent_end();
    parts_.log.flush_when_due();
    if (const auto end = parts_.watch.wait_for(parts_.script.socket(), POLLIN, parts_.watch.wall()))
      return end_from_outside(*end);
  }
}

std::optional<Outcome> Conversation::take_frames() {
  for (;;) {
    auto frame = reader_.next();
    if (!frame) return protocol_violation(frame.error().message);
    if (!*frame) return std::nullopt;
    const auto said = parse_from_script(**frame);
    if (!said) return protocol_violation(said.error().message);
    if (auto outcome = take(*said)) return outcome;
  }
}

std::optional<Outcome> Conversation::take(const FromScript& said) {
  if (const auto* log = std::get_if<ScriptLog>(&said)) {
    parts_.log.say("info", log->message);
    if (parts_.log.pending() >= kLinesPerBatch) parts_.log.flush_when_due();
    return std::nullopt;
  }
  if (const auto* end = std::get_if<ScriptEnd>(&said)) return outcome_of(*end);
  return call(std::get<ScriptCall>(said));
}

std::optional<Outcome> Conversation::call(const ScriptCall& call) {
  // A dead script's last wish is not carried out.
  if (const auto end = parts_.watch.look()) return end_from_outside(*end);
  const auto answered = parts_.broker.call(call);
  if (const auto* end = std::get_if<RunEnd>(&answered)) return end_from_outside(*end);
  const std::string json = to_json(std::get<CallAnswer>(answered));
  if (const auto end = parts_.script.send(json, parts_.watch, parts_.clock))
    return end_from_outside(*end);
  return std::nullopt;
}

Outcome Conversation::end_from_outside(RunEnd end) {
  if (end == RunEnd::script_ended) return last_words();
  parts_.script.kill();
  return outcome_of(OutsideEnd{end, parts_.wall, parts_.broker.sent()});
}

// What it wrote before it exited is still in the socket; its end among it is its word.
Outcome Conversation::last_words() {
  while (reader_.pull(parts_.script.socket()) == FrameReader::Pulled::some) continue;
  for (;;) {
    auto frame = reader_.next();
    if (!frame || !*frame) break;
    const auto said = parse_from_script(**frame);
    if (!said) break;
    if (const auto* log = std::get_if<ScriptLog>(&*said)) parts_.log.say("info", log->message);
    if (const auto* end = std::get_if<ScriptEnd>(&*said)) return outcome_of(*end);
  }
  return outcome_of_death(parts_.script.wait_status().value_or(0));
}

Outcome Conversation::silent_end() {
  const auto end = parts_.watch.wait_until(parts_.clock.mono_now() + kExitAfterClosing);
  if (end) return end_from_outside(*end);
  parts_.script.kill();
  return protocol_violation("it closed its socket and stayed");
}

}  // namespace coderunner::executor
