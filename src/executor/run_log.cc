#include "executor/run_log.h"

#include <algorithm>

#include "base/text.h"
#include "domain/limits.h"

namespace coderunner::executor {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kCutMark = " [cut]";

// Two rows, each with the path in its message and in its call.
std::size_t change_bytes(const ApiCall& call) {
  constexpr std::size_t kCopies = 4, kRows = 2;
  return kCopies * call.path.size() + kRows * limits::kLogLineOverhead;
}

}  // namespace

std::string storable_text(std::string_view text, std::size_t max_bytes) {
  std::string clean = replace_invalid_utf8(text.substr(0, max_bytes + 4));
  for (std::size_t at = clean.find('\0'); at != std::string::npos; at = clean.find('\0', at))
    clean.replace(at, 1, kReplacement);
  return clamp_utf8(clean, max_bytes, kCutMark);
}

void RunLog::say(std::string_view level, std::string_view message) {
  if (has_room(message.size())) pending_.push_back(line(level, message, std::nullopt));
}

void RunLog::note_call(std::string_view level, std::string_view message, const ApiCall& call,
                       Keep keep) {
  if (keep == Keep::always || has_room(message.size() + call.path.size()))
    pending_.push_back(line(level, message, call));
}

bool RunLog::has_room(std::size_t bytes) {
  if (is_cut_) return false;
  bytes_ += std::min(bytes, limits::kMaxLogLineBytes) + limits::kLogLineOverhead;
  if (bytes_ <= limits::kMaxLogBytesPerRun) return true;
  is_cut_ = true;
  pending_.push_back(
      line("warn", "the log is cut here: this run has written all that one run may write", {}));
  return false;
}

LogLine RunLog::line(std::string_view level, std::string_view message,
                     const std::optional<ApiCall>& call) const {
  LogLine made;
  made.at = clock_.utc_now();
  made.level = level;
  made.message = storable_text(message, limits::kMaxLogLineBytes);
  made.call = call;
  return made;
}

bool RunLog::may_announce(const ApiCall& call) const {
  return changes_ < limits::kMaxChangesPerRun &&
         change_bytes_ + change_bytes(call) <= limits::kMaxChangeLogBytesPerRun;
}

Result<AnnounceAnswer> RunLog::announce(std::string_view message, const ApiCall& call) {
  pending_.push_back(line("info", message, call));
  const auto answer = ledger_.announce(run_.execution, run_.run, pending_);
  if (!answer || *answer != AnnounceAnswer::announced) {
    pending_.pop_back();
    return answer;
  }
  pending_.clear();
  ++changes_;
  change_bytes_ += change_bytes(call);
  return answer;
}

Result<Done> RunLog::flush() {
  if (pending_.empty()) return Done{};
  const auto kept = ledger_.append_log(run_.execution, pending_);
  if (!kept) return kept;
  pending_.clear();
  return kept;
}

void RunLog::flush_when_due() {
  if (clock_.mono_now() < not_before_) return;
  if (!flush()) not_before_ = clock_.mono_now() + limits::kStoreRetryMax;
}

}  // namespace coderunner::executor
