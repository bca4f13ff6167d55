// A session that fails where a test tells it to: before or after the real one did the work, with
// the transaction alive or gone. Wraps a real session; used by the commit queue's tests.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/sql/session.h"

namespace coderunner::contract {

enum class Fault {
  refuse,        // nothing is done, the transaction lives
  lose,          // the transaction is rolled back and gone
  do_and_lie,    // it is done, and the answer says that it failed
  lose_for_now,  // lost like `lose`, and as a COMMIT that may surface one day
};

class FaultySession final : public sql::Session {
 public:
  explicit FaultySession(std::unique_ptr<sql::Session> real) : real_(std::move(real)) {}

  // The next statements that start with `text`, or that bind it: `times` of them.
  void arm(std::string text, Fault fault, int times = 1) {
    armed_.push_back({std::move(text), fault, times, false});
  }
  void arm_busy(std::string text, int times) {
    armed_.push_back({std::move(text), Fault::refuse, times, true});
  }
  // The statement `ordinal` from now, counted from 1, and the `times` - 1 after it.
  void arm_at(int ordinal, Fault fault, int times = 1) {
    by_count_.push_back({met_ + ordinal, {"", fault, times, false}});
  }
  int faults_struck() const { return struck_; }  // of those armed by ordinal, each counted once
  std::function<void()> before_commit;
  std::function<void(std::string_view)> before_query;

  Result<std::int64_t> execute(std::string_view text, const sql::Values& values) override {
    if (text == "COMMIT" && before_commit) before_commit();
    return faulted<std::int64_t>(text, values, [&] { return real_->execute(text, values); });
  }
  Result<std::int64_t> insert(std::string_view text, const sql::Values& values) override {
    return faulted<std::int64_t>(text, values, [&] { return real_->insert(text, values); });
  }
  Result<sql::Rows> query(std::string_view text, const sql::Values& values) override {
    if (before_query) before_query(text);
    return faulted<sql::Rows>(text, values, [&] { return real_->query(text, values); });
  }
  bool in_transaction() const override { return real_->in_transaction(); }
  bool was_busy() const override { return busy_; }
  Result<Done> ensure_usable() override { return real_->ensure_usable(); }

 private:
  struct Armed {
    std::string text;
    Fault fault;
    int times;
    bool busy;
  };

  bool meets(const Armed& armed, std::string_view text, const sql::Values& values) const {
    if (armed.times == 0) return false;
    if (text.starts_with(armed.text)) return true;
    for (const sql::Value& value : values)
      if (value.text() != nullptr && *value.text() == armed.text) return true;
    return false;
  }

  template <class T, class Real>
  Result<T> faulted(std::string_view text, const sql::Values& values, Real real) {
    ++met_;
    for (auto& [from, armed] : by_count_)
      if (met_ >= from && armed.times > 0) {
        struck_ += met_ == from ? 1 : 0;
        return strike<T>(armed, real);
      }
    for (Armed& armed : armed_)
      if (meets(armed, text, values)) return strike<T>(armed, real);
    auto answer = real();
    if (!answer) busy_ = real_->was_busy();
    return answer;
  }

  template <class T, class Real>
  Result<T> strike(Armed& armed, Real real) {
    --armed.times;
    busy_ = armed.busy;
    if (armed.fault == Fault::do_and_lie) static_cast<void>(real());
    if (armed.fault == Fault::lose || armed.fault == Fault::lose_for_now)
      static_cast<void>(real_->execute("ROLLBACK", {}));
    return fail(
        armed.fault == Fault::lose_for_now ? Failure::unknown_outcome : Failure::unavailable,
        "injected");
  }

  std::unique_ptr<sql::Session> real_;
  std::vector<Armed> armed_;
  std::vector<std::pair<int, Armed>> by_count_;
  int met_ = 0;  // statements
  int struck_ = 0;
  bool busy_ = false;
};

}  // namespace coderunner::contract
