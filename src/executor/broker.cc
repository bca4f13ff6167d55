#include "executor/broker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "domain/sent_changes.h"

namespace coderunner::executor {
namespace {

constexpr std::array<std::string_view, 5> kMethods{"GET", "POST", "PUT", "PATCH", "DELETE"};

bool is_get(const ScriptCall& call) { return call.method == "GET"; }

std::string name_of(const ScriptCall& call) { return call.method + " " + call.path; }

CallError no_answer(std::string message) {
  return CallError{std::nullopt, std::nullopt, std::move(message)};
}

// "API answered 400: VE02 The parameters are not valid. (title: The value must be a string.)"
CallError error_of(const ApiAnswer& answer, const std::string& reason) {
  const ApiErrorDocument document = read_error_document(answer.body);
  CallError error{answer.status, document.code, reason};
  if (!answer.problem.empty()) error.message += " (" + answer.problem + ")";
  if (document.code || document.message) {
    error.message += ":";
    if (document.code) error.message += " " + *document.code;
    if (document.message) error.message += " " + *document.message;
    if (document.detail) error.message += " (" + *document.detail + ")";
  }
  error.message = storable_text(error.message, limits::kMaxErrorMessageBytes);
  return error;
}

std::variant<CallAnswer, RunEnd> delivered(const ApiAnswer& answer) {
  if (*answer.status >= 300)
    return CallAnswer{error_of(
        answer, fmt::format("API answered {}; redirects are not followed", *answer.status))};
  CallResult result{*answer.status, std::nullopt};
  if (*answer.status != 204 && !answer.body.empty()) result.body = answer.body;
  if (to_json(CallAnswer{result}).size() > limits::kMaxFrameBytes)
    return CallAnswer{CallError{answer.status, std::nullopt, "the answer is too large"}};
  return CallAnswer{std::move(result)};
}

}  // namespace

std::variant<CallAnswer, RunEnd> Broker::call(const ScriptCall& call) {
  if (std::find(kMethods.begin(), kMethods.end(), call.method) == kMethods.end())
    return CallAnswer{no_answer("no such method")};
  if (const auto refusal = refuse_path(call.path)) return CallAnswer{no_answer(*refusal)};
  if (const auto why = parts_.api.why_unusable()) return CallAnswer{no_answer("not sent: " + *why)};

  for (int attempt = 1;; ++attempt) {
    if (auto stop = await_gate()) return *stop;
    if (!is_get(call))
      if (auto stop = announce(call, attempt)) return *stop;
    // Crash window announced-unsent: the line above says what may have been sent; the row ends 303
    // and names it. Stop here and wake when the row has been ended: past the wall nothing is sent
    // any more, but between the last look at the clock and the send no store can stop it.
    const ApiAnswer answer = attempt_once(call, attempt);
    if (auto stop = judge(call, attempt, answer)) return *stop;
  }
}

Millis Broker::to_wall() const {
  return std::chrono::floor<Millis>(parts_.watch.wall() - parts_.clock.mono_now());
}

// The ladder's own rules for a wait somebody else's 429 has earned.
Broker::Stop Broker::await_gate() {
  while (task_.key) {
    if (const auto end = parts_.watch.look()) return *end;
    const UtcTime now = parts_.clock.utc_now();
    const auto gate = parts_.gates.closed(*task_.key, now);
    if (!gate) {  // rulings 12: an unreachable gate is an open one
      parts_.events.record({Level::warn,
                            "gate_error",
                            task_.execution,
                            {{"during", "read"}, {"error", gate.error().message}}});
      return std::nullopt;
    }
    if (!*gate || (*gate)->until <= now) return std::nullopt;
    const Millis wait = (*gate)->until - now;
    const bool too_long = wait >= task_.ladder.long_retry_after + task_.ladder.gate.margin;
    if (too_long || wait >= to_wall())
      return CallAnswer{
          CallError{429, std::nullopt,
                    fmt::format("rate limited: the API key's gate is closed until {}{}; not sent",
                                to_rfc3339((*gate)->until),
                                too_long ? "" : ", which does not fit before the wall")}};
    parts_.log.say("info", fmt::format("waiting {} for the API key's gate", format_duration(wait)));
    parts_.log.flush_when_due();
    if (const auto end = parts_.watch.wait_until(parts_.clock.mono_now() + wait)) return *end;
  }
  return std::nullopt;
}

// Also the fence of a run that was stopped and has woken: where its row has an end already, nothing
// is sent any more.
Broker::Stop Broker::announce(const ScriptCall& call, int attempt) {
  ApiCall sending;
  sending.method = call.method;
  sending.path = call.path;
  sending.attempt = attempt;
  if (!parts_.log.may_announce(sending))
    return CallAnswer{no_answer("not sent: one run may not send more changes than it has")};
  Millis pause = limits::kStoreRetryMin;
  for (;;) {
    const auto kept = parts_.log.announce("sending " + name_of(call), sending);
    if (kept && *kept == AnnounceAnswer::not_this_run) {
      parts_.log.say("warn", "not sent, the row had been ended by somebody else: " + name_of(call));
      return RunEnd::fenced;
    }
    if (const auto end = parts_.watch.look()) return *end;
    if (kept) break;
    if (pause >= to_wall())
      return CallAnswer{no_answer("not sent: the log line that must come first can not be kept")};
    if (const auto end = parts_.watch.wait_until(parts_.clock.mono_now() + pause)) return *end;
    pause = std::min(pause * 2, limits::kStoreRetryMax);
  }
  sent_.push_back(sent_change(sending));
  return std::nullopt;
}

ApiAnswer Broker::attempt_once(const ScriptCall& call, int attempt) {
  const MonoTime started = parts_.clock.mono_now();
  ApiRequest request{call.method, call.path, call.body,
                     std::min(started + task_.api_timeout, parts_.watch.wall())};
  ApiAnswer answer = parts_.api.perform(request, parts_.watch);

  ApiCall made;
  made.method = call.method;
  made.path = call.path;
  made.status = answer.status;
  made.duration = std::chrono::round<Millis>(parts_.clock.mono_now() - started);
  made.attempt = attempt;
  made.remaining = answer.remaining;
  const std::string result = answer.status ? std::to_string(*answer.status)
                                           : (answer.ended ? "dropped, the run ends"
                                                           : "no answer (" + answer.problem + ")");
  // Crash window sent-unrecorded: the announcement stands without a result, "no answer".
  const bool good = answer.status && *answer.status < 400;
  parts_.log.note_call(good ? "info" : "warn", name_of(call) + ": " + result, made,
                       is_get(call) ? RunLog::Keep::within_share : RunLog::Keep::always);
  if (!is_get(call)) sent_.back() = sent_change(made);
  if (task_.keep_answers && answer.status) parts_.log.say("debug", answer.body);
  return answer;
}

Broker::Stop Broker::judge(const ScriptCall& call, int attempt, const ApiAnswer& answer) {
  if (answer.ended) return *answer.ended;
  if (const auto end = parts_.watch.look()) return *end;
  constexpr int kFirstError = 400;  // an error's status says enough, however long its body is
  if (answer.is_too_large && *answer.status < kFirstError)
    return CallAnswer{error_of(answer, "the API's answer is too large")};

  AttemptAnswer seen{is_get(call), answer.status, std::nullopt, false};
  if (answer.status == 429)
    seen.hint = retry_hint({answer.retry_after, answer.date,
                            read_error_document(answer.body).retry_after, parts_.clock.utc_now()},
                           task_.ladder.gate);
  seen.method_limit = answer.status && says_method_limit(*answer.status, answer.body);
  seen.never_sent = answer.never_sent;

  if (answer.status != Gate::kRateLimited && answer.remaining == 0)
    close_spent_minute(*answer.status);
  const LadderStep step = next_step(seen, attempt, to_wall(), task_.ladder);
  if (step.close_gate_for) close_gate(*step.close_gate_for);
  if (const auto* raise = std::get_if<Raise>(&step.move))
    return CallAnswer{error_of(answer, raise->reason)};
  if (const auto* again = std::get_if<WaitThenResend>(&step.move))
    return wait_before_resend(call, attempt, again->wait);
  return delivered(answer);
}

// Before any wait begins: the runs of this key that start meanwhile must see it. Crash window
// gate-unwritten: the next run of this key meets one 429 of its own.
void Broker::close_gate(Millis retry_after) {
  if (!task_.key) return;
  const UtcTime now = parts_.clock.utc_now();
  close_gate(
      Gate{*task_.key, gate_until(now, retry_after, task_.ladder.gate), now, now, retry_after});
}

// The answer says that nothing is left of this minute: nobody has to meet the 429 that would
// follow.
void Broker::close_spent_minute(int status) {
  if (!task_.key) return;
  const UtcTime now = parts_.clock.utc_now();
  const auto last = parts_.gates.last(*task_.key);
  const UtcTime until = minute_end(last ? *last : std::optional<Gate>{}, now, task_.ladder.gate);
  close_gate(Gate{*task_.key, until, now, now, std::nullopt, status});
}

void Broker::close_gate(const Gate& gate) {
  const auto closed = parts_.gates.close(gate, gate.last_seen);
  if (!closed)
    parts_.events.record({Level::warn,
                          "gate_error",
                          task_.execution,
                          {{"during", "close"}, {"error", closed.error().message}}});
}

Broker::Stop Broker::wait_before_resend(const ScriptCall& call, int attempt, Millis wait) {
  if (wait <= Millis{0}) return std::nullopt;
  parts_.log.say("info", fmt::format("waiting {} before attempt {} of {}", format_duration(wait),
                                     attempt + 1, name_of(call)));
  parts_.log.flush_when_due();
  if (const auto end = parts_.watch.wait_until(parts_.clock.mono_now() + wait)) return *end;
  return std::nullopt;
}

}  // namespace coderunner::executor
