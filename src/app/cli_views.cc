#include "app/cli_views.h"

#include <fmt/format.h>

#include <utility>

#include "adapters/log/escape.h"
#include "app/json_reading.h"
#include "app/text_table.h"
#include "domain/sent_changes.h"

namespace coderunner::app {
namespace {

struct Times {
  std::optional<UtcTime> queued, started, finished;
  bool was_reaped = false;  // `finished` is when it was found out: nobody knows how long it ran
};

Times times_of(const Json& execution) {
  const auto code = number_at(execution, "error_code");
  return {time_at(execution, "queued_at"), time_at(execution, "started_at"),
          time_at(execution, "finished_at"),
          coderunner::was_reaped(code ? std::optional{static_cast<int>(*code)} : std::nullopt,
                                 text_at(execution, "error_message"))};
}

// How long from one moment to the other; to `now` where the other has not come.
std::string span(std::optional<UtcTime> from, std::optional<UtcTime> to,
                 std::optional<UtcTime> now) {
  const auto end = to ? to : now;
  return from && end ? human_duration(*end - *from) : std::string{};
}

std::string waited(const Times& times, std::optional<UtcTime> now) {
  return span(times.queued, times.started ? times.started : times.finished, now);
}

std::string ran(const Times& times, std::optional<UtcTime> now) {
  return times.started && !times.was_reaped ? span(times.started, times.finished, now)
                                            : std::string{};
}

// Why it waits, or why it ended.
std::string because(const Json& execution) {
  std::string reason = text_at(execution, "queued_reason");
  if (const std::string until = text_at(execution, "queued_until");
      !reason.empty() && !until.empty())
    reason += " until " + until;
  if (!reason.empty()) return reason;
  const std::string code = text_at(execution, "error_code");
  const std::string message = text_at(execution, "error_message");
  if (code.empty()) return message;
  return message.empty() ? "code " + code : fmt::format("{} (code {})", message, code);
}

// As the script wrote it, tabs included: they are what `log` puts between its arguments.
std::string message_of(const Json& line) {
  const Json message = member(line, "message");
  if (!message.is_string()) return {};
  std::string text;
  std::string_view rest = message.get_ref<const std::string&>();
  for (std::size_t tab = rest.find('\t'); tab != std::string_view::npos; tab = rest.find('\t')) {
    text += escape_controls(rest.substr(0, tab)) + '\t';
    rest.remove_prefix(tab + 1);
  }
  return text + escape_controls(rest);
}

// What the line's own words do not say of an answered call.
std::string call_note(const Json& call) {
  if (!number_at(call, "status")) return {};
  const auto remaining = number_at(call, "remaining");
  return fmt::format(" ({}, attempt {}{})", age_at(call, "ms"), count_at(call, "attempt"),
                     remaining ? fmt::format(", {} left this minute", *remaining) : "");
}

std::string drainer_lines(const Json& queue) {
  const Json drainer = member(queue, "drainer");
  const Json executor = member(queue, "executor");
  const std::string error = text_at(drainer, "executor_error");
  std::string text = fmt::format(
      "{}   depth {}   in flight {} of {}   oldest queued {} (eligible {}, parked {})\n",
      text_at(drainer, "state").empty() ? "unknown" : text_at(drainer, "state"),
      count_at(queue, "depth"), count_at(queue, "in_flight"), count_at(queue, "concurrency"),
      age_at(queue, "oldest_queued_age_ms"), age_at(queue, "oldest_eligible_age_ms"),
      age_at(queue, "oldest_parked_age_ms"));
  const std::string tick = text_at(drainer, "last_tick");
  text +=
      fmt::format("last tick {}   executor children {} of {}, all taken {} times\n",
                  tick.empty() ? "never" : tick, count_at(executor, "children"),
                  count_at(executor, "max_children"), count_at(executor, "max_children_reached"));
  if (!error.empty()) text += fmt::format("executor unavailable: {}\n", error);
  return text;
}

// Until when is the reason's to say.
std::string gate_note(std::string_view gates, const std::string& key) {
  for (const Json& gate : member(parse(gates), "gates"))
    if (text_at(gate, "key") == key)
      return fmt::format("closed by {}, seen at {}",
                         closed_by(number_at(gate, "status").value_or(0)),
                         text_at(gate, "seen_at"));
  return {};
}

std::string timeline_line(const char* event, const std::string& at, const std::string& note) {
  return at.empty() ? std::string{}
                    : fmt::format("  {:<9} {}{}\n", event, at, note.empty() ? "" : "   " + note);
}

}  // namespace

std::string status_view(std::string_view body) {
  const Json queue = parse(body);
  std::string text = drainer_lines(queue);
  TextTable gates{{"GATED KEY", "UNTIL", "QUEUED"}};
  for (const Json& gate : member(queue, "gated_keys"))
    gates.add({text_at(gate, "key"), text_at(gate, "until"), count_at(gate, "queued")});
  if (!gates.empty()) text += "\n" + gates.text();
  TextTable accounts{{"ACCOUNT", "QUEUED", "IN FLIGHT", "OLDEST"}};
  for (const Json& account : member(queue, "accounts"))
    accounts.add({text_at(account, "account"), count_at(account, "queued"),
                  count_at(account, "in_flight"), age_at(account, "oldest_queued_age_ms")});
  if (!accounts.empty()) text += "\n" + accounts.text();
  return text;
}

std::string list_view(std::string_view body, UtcTime now) {
  const Json page = parse(body);
  TextTable table{
      {"ID", "ACCOUNT", "STATE", "QUEUED AT", "WAITED", "RAN", "IDENTIFIER", "BECAUSE"}};
  for (const Json& execution : member(page, "executions")) {
    const Times times = times_of(execution);
    table.add({text_at(execution, "execution_id"), text_at(execution, "account"),
               text_at(execution, "state"), text_at(execution, "queued_at"), waited(times, now),
               ran(times, now), text_at(execution, "identifier"), because(execution)});
  }
  if (table.empty()) return "no executions\n";
  const std::string next = text_at(page, "next");
  return table.text() + (next.empty() ? "" : fmt::format("older ones: --before {}\n", next));
}

bool waits_for_gate(std::string_view body) {
  return text_at(parse(body), "queued_reason") == "key_gated";
}

std::string closed_by(std::int64_t status) {
  if (status == 0) return "an operator";
  return status == 429 ? "a 429" : "a minute used up";
}

std::string show_view(std::string_view body, UtcTime now, std::string_view gates) {
  const Json execution = parse(body);
  const Times times = times_of(execution);
  std::string text = fmt::format("execution {} {}\n", text_at(execution, "execution_id"),
                                 text_at(execution, "state"));
  const auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<11} {}\n", name, value);
  };
  line("account", text_at(execution, "account"));
  line("identifier", text_at(execution, "identifier"));
  line("job", text_at(execution, "job_id"));
  line("key", text_at(execution, "apikey_hash"));
  line("because", because(execution));
  line("gate", gate_note(gates, text_at(execution, "apikey_hash")));
  text += "timeline\n";
  const std::string wait = waited(times, now), run = ran(times, now);
  text += timeline_line("queued", text_at(execution, "queued_at"),
                        times.started || times.finished ? "" : "waiting for " + wait);
  text += timeline_line(
      "started", text_at(execution, "started_at"),
      times.finished ? "waited " + wait : fmt::format("waited {}, running for {}", wait, run));
  text += timeline_line("finished", text_at(execution, "finished_at"),
                        times.was_reaped ? "reaped, how long it ran is not known"
                        : times.started  ? "ran " + run
                                         : "never started");
  return text;
}

std::string show_json(std::string_view body) {
  Json execution = parse(body);
  if (!execution.is_object()) return std::string{body};
  const bool was_reaped = times_of(execution).was_reaped;
  Json timeline = Json::array();
  std::optional<UtcTime> before;
  for (const auto& [event, name] :
       {std::pair{"queued", "queued_at"}, {"started", "started_at"}, {"finished", "finished_at"}}) {
    const auto at = time_at(execution, name);
    if (!at) continue;
    const bool is_reapers = std::string_view{name} == "finished_at" && was_reaped;
    timeline.push_back(
        {{"at", to_rfc3339(*at)},
         {"event", event},
         {"after_ms", is_reapers ? Json(nullptr) : Json(before ? (*at - *before).count() : 0)}});
    before = at;
  }
  execution["timeline"] = std::move(timeline);
  return execution.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<LogPage> log_page(std::string_view body) {
  const Json json = parse(body);
  const auto next = number_at(json, "next");
  const Json lines = member(json, "logs");
  if (!next || !lines.is_array()) return std::nullopt;
  LogPage page{{}, static_cast<int>(lines.size()), *next};
  for (const Json& line : lines) {
    page.text += fmt::format("{} {:<5} {}{}\n", text_at(line, "at"), text_at(line, "level"),
                             message_of(line), call_note(member(line, "call")));
  }
  return page;
}

std::optional<Progress> progress_of(std::string_view body) {
  const Json execution = parse(body);
  const auto id = number_at(execution, "execution_id");
  const std::string status = text_at(execution, "status");
  if (!id || status.empty()) return std::nullopt;
  Progress progress;
  progress.execution_id = *id;
  progress.state = text_at(execution, "state");
  progress.succeeded = status == "success";
  progress.finished = progress.succeeded || status == "error";
  progress.line = fmt::format("execution {} {}", *id, progress.state);
  const Times times = times_of(execution);
  if (const std::string run = ran(times, std::nullopt); !run.empty() && times.finished)
    progress.line += fmt::format(" after {} (waited {})", run, waited(times, std::nullopt));
  if (const std::string reason = because(execution); !reason.empty())
    progress.line += ": " + reason;
  return progress;
}

std::optional<std::int64_t> admitted_id(std::string_view body) {
  return number_at(parse(body), "execution_id");
}

}  // namespace coderunner::app
