// A property under rapidcheck with a seed of its own, so that each run tries the same cases; what
// breaks it is shrunk and shown. rapidcheck's own macros take their seed from the clock.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/detail/TestListener.h>

#include <sstream>

namespace coderunner {

// The usual one first prints a seed of rapidcheck's own, which is not used here.
class NoListener final : public rc::detail::TestListener {
  void onTestCaseFinished(const rc::detail::CaseDescription&) override {}
  void onShrinkTried(const rc::detail::CaseDescription&, bool) override {}
  void onTestFinished(const rc::detail::TestMetadata&, const rc::detail::TestResult&) override {}
};

template <class Property>
void expect_always(const Property& property, int cases = 2000) {
  rc::detail::TestParams params;
  params.seed = 20260824;
  params.maxSuccess = cases;
  NoListener listener;
  const rc::detail::TestResult result = rc::detail::checkProperty(
      rc::detail::toProperty(property), rc::detail::TestMetadata{}, params, listener, {});
  if (result.is<rc::detail::SuccessResult>()) return;
  std::ostringstream told;
  rc::detail::printResultMessage(result, told);
  ADD_FAILURE() << told.str();
}

}  // namespace coderunner
