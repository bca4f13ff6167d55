#include "domain/refusal_tally.h"

#include "domain/limits.h"

namespace coderunner {

UtcTime refusal_hour(UtcTime at) { return at - at.time_since_epoch() % limits::kRefusalHour; }

void fold(RefusalTally& tally, ErrorCode code) {
  ++(code == ErrorCode::rejected_for_depth ? tally.rejected : tally.does_not_parse);
}

ErrorCode folded_code(const RefusalTally& tally) {
  return tally.rejected > 0 ? ErrorCode::rejected_for_depth : ErrorCode::does_not_parse;
}

std::string folded_message(const RefusalTally& tally, UtcTime hour) {
  return std::to_string(tally.rejected + tally.does_not_parse) +
         " more refused submissions in the hour from " + to_rfc3339(hour) + ", beyond the first " +
         std::to_string(tally.kept) + ": " + std::to_string(tally.rejected) +
         " rejected for depth, " + std::to_string(tally.does_not_parse) + " that do not parse";
}

}  // namespace coderunner
