#include "tests/integration/executor/file_ledger.h"

#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "domain/sent_changes.h"

namespace coderunner::executor_test {
namespace {

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream{path, std::ios::binary} << text;
}

void append_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream{path, std::ios::binary | std::ios::app} << text;
}

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream{path, std::ios::binary}.rdbuf();
  return text.str();
}

std::filesystem::path FileLedger::file(std::int64_t number, const char* what) const {
  return folder_ / (std::to_string(number) + "." + what);
}

bool FileLedger::is_away() const { return std::filesystem::exists(folder_ / "away"); }

void FileLedger::set_away(bool away) const {
  if (away)
    write_text(folder_ / "away", "");
  else
    std::filesystem::remove(folder_ / "away");
}

void FileLedger::admit(int number, const std::string& source) const {
  write_text(file(number, "source"), source);
  write_text(file(number, "nonce"), "nonce:n" + std::to_string(number));
}

std::string FileLedger::outcome(int number) const { return read_text(file(number, "end")); }
std::string FileLedger::log(int number) const { return read_text(file(number, "log")); }
std::string FileLedger::run_of(int number) const { return read_text(file(number, "run")); }
int FileLedger::begins(int number) const {
  return static_cast<int>(read_text(file(number, "begins")).size());
}

void FileLedger::kill_whoever_begins(int number, Death death) const {
  write_text(file(number, death == Death::before_commit ? "die-before" : "die-after"), "");
}

void FileLedger::die_if_told(std::int64_t number, const char* when) const {
  if (std::filesystem::remove(file(number, when))) ::raise(SIGKILL);
}

Result<std::variant<Begun, BeginRefused>> FileLedger::begin(const Begin& begin) {
  if (is_away()) return fail(Failure::unavailable, "away");
  const std::int64_t number = begin.job.value;
  if (read_text(file(number, "nonce")) != begin.nonce.value)
    return std::variant<Begun, BeginRefused>{BeginRefused{}};
  write_text(file(number, begin.run.value.c_str()), begin.run.value);
  if (begin.before_commit) begin.before_commit(ExecutionId{number});
  die_if_told(number, "die-before");
  std::error_code error;
  std::filesystem::rename(file(number, "nonce"), file(number, "spent"), error);
  if (error) return std::variant<Begun, BeginRefused>{BeginRefused{}};
  std::filesystem::rename(file(number, begin.run.value.c_str()), file(number, "run"));
  append_text(file(number, "begins"), "1");
  die_if_told(number, "die-after");

  Begun begun;
  begun.execution = ExecutionId{number};
  begun.account = "acme";
  begun.key = ApiKeyHash{"key"};
  begun.sealed_key = "sealed:secret-key";
  begun.source = read_text(file(number, "source"));
  begun.payload = R"({"card":7})";
  return std::variant<Begun, BeginRefused>{std::move(begun)};
}

Result<FinishAnswer> FileLedger::finish(ExecutionId execution, const RunId& run,
                                        const Outcome& outcome, UtcTime) {
  if (is_away()) return fail(Failure::unavailable, "away");
  if (run_of(static_cast<int>(execution.value)) != run.value) return FinishAnswer::not_this_run;
  const std::string text = outcome.code
                               ? std::to_string(number(*outcome.code)) + " " + outcome.message
                               : std::string{"success"};
  const auto draft = file(execution.value, ("end-" + std::to_string(::getpid())).c_str());
  write_text(draft, text);
  const bool first = ::link(draft.c_str(), file(execution.value, "end").c_str()) == 0;
  std::filesystem::remove(draft);
  return first ? FinishAnswer::finished : FinishAnswer::not_this_run;
}

Result<Done> FileLedger::append_log(ExecutionId execution, const std::vector<LogLine>& lines) {
  if (is_away()) return fail(Failure::unavailable, "away");
  std::string text;
  for (const LogLine& line : lines) text += line.level + " " + line.message + "\n";
  append_text(file(execution.value, "log"), text);
  std::string calls;
  for (const LogLine& line : lines)
    if (line.call)
      calls += line.call->method + " " + line.call->path + " " +
               std::to_string(line.call->status.value_or(0)) + " " +
               std::to_string(line.call->attempt) + "\n";
  append_text(file(execution.value, "calls"), calls);
  return Done{};
}

Result<AnnounceAnswer> FileLedger::announce(ExecutionId execution, const RunId& run,
                                            const std::vector<LogLine>& lines) {
  if (is_away()) return fail(Failure::unavailable, "away");
  const int number = static_cast<int>(execution.value);
  if (run_of(number) != run.value || !outcome(number).empty()) return AnnounceAnswer::not_this_run;
  const auto kept = append_log(execution, lines);
  if (!kept) return kept.error();
  return AnnounceAnswer::announced;
}

Result<std::vector<std::string>> FileLedger::sent_changes(ExecutionId execution) {
  if (is_away()) return fail(Failure::unavailable, "away");
  std::istringstream calls{read_text(file(execution.value, "calls"))};
  std::vector<LogLine> lines;
  ApiCall call;
  int status = 0;
  while (calls >> call.method >> call.path >> status >> call.attempt) {
    call.status = status != 0 ? std::optional{status} : std::nullopt;
    lines.emplace_back().call = call;
  }
  return coderunner::sent_changes(lines);
}

}  // namespace coderunner::executor_test
