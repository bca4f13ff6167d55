// How many refused submissions of one hour are kept as rows of their own, and what the one row says
// that counts the rest (rulings 20): a flood that a cap stops must not fill the disk through its
// refusals. Pure; used by the stores, which keep a tally per account and hour, and one for all.
#pragma once

#include <string>

#include "base/time.h"
#include "domain/error_code.h"

namespace coderunner {

struct RefusalTally {
  int kept = 0;            // as rows of their own
  int rejected = 0;        // counted only: code 107
  int does_not_parse = 0;  // counted only: any other code
  friend bool operator==(const RefusalTally&, const RefusalTally&) = default;
};

// The hour of UTC that `at` lies in.
UtcTime refusal_hour(UtcTime at);
// Counts one more that gets no row of its own.
void fold(RefusalTally& tally, ErrorCode code);
// Of the row that counts: `rejected_for_depth` from the first one on, so that whoever is answered
// 107 finds it there.
ErrorCode folded_code(const RefusalTally& tally);
std::string folded_message(const RefusalTally& tally, UtcTime hour);

}  // namespace coderunner
