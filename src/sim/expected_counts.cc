#include "sim/simulation.h"

namespace coderunner::sim {

std::vector<std::string_view> expected_counts() {
  std::vector<std::string_view> names{"succeeded",
                                      "failed",
                                      "invalid",
                                      "killed",
                                      "never_dispatched",
                                      "effect landed",
                                      "wall",
                                      "finished too late",
                                      "buried",
                                      "no worker free",
                                      "never answered",
                                      "killed by its master",
                                      "admission unknown",
                                      "admission refused",
                                      "worker killed while busy",
                                      "worker frozen while busy",
                                      "reaped while running",
                                      "reaped while queued",
                                      "sent again",
                                      "gate of a wrong clock met"};
  for (int i = 0; i < kCallFaultKinds; ++i) names.push_back(to_text(static_cast<CallFaultKind>(i)));
  for (int i = 1; i < kRequestFates; ++i) names.push_back(to_text(static_cast<RequestFate>(i)));
  for (int i = 1; i < kAnswerFates; ++i) names.push_back(to_text(static_cast<AnswerFate>(i)));
  for (int i = 1; i < kApiFates; ++i) names.push_back(to_text(static_cast<ApiFate>(i)));
  for (int i = 0; i < kHappeningKinds; ++i) names.push_back(to_text(static_cast<HappeningKind>(i)));
  return names;
}

}  // namespace coderunner::sim
