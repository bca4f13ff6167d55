#include "tests/contract/backend.h"
#include "tests/contract/sqlite_files.h"

namespace coderunner::contract {
namespace {

TEST_P(StoreContract, AnAdmissionIsAQueuedRowWithEverythingThatWasSubmitted) {
  NewExecution fresh = StoreContract::fresh("acme", "k1", Millis{5});
  fresh.identifier = "card-moved";
  fresh.payload = R"({"card": 7, "name": "Grüße"})";
  fresh.source = std::string{"log('a')\0log('b')", 17};
  fresh.debug = true;
  const Admitted admitted = *admit_and_wait(store->admission(), fresh);

  const Execution row = this->row(admitted.execution);
  EXPECT_EQ(row.id, admitted.execution);
  EXPECT_EQ(row.job, admitted.job);
  EXPECT_EQ(row.account, "acme");
  EXPECT_EQ(row.account_id, AccountId{"acme"});
  EXPECT_EQ(row.key, ApiKeyHash{"k1"});
  EXPECT_EQ(row.identifier, "card-moved");
  EXPECT_EQ(row.state(), State::queued);
  EXPECT_TRUE(row.debug);
  EXPECT_EQ(row.queued_at, kNoon + Millis{5});
  EXPECT_FALSE(row.started_at || row.finished_at || row.run || row.executor || row.error_code);
  const ExecutionText text = store->view().text(admitted.execution)->value();
  EXPECT_EQ(text.source, fresh.source);
  EXPECT_EQ(text.payload, fresh.payload);
  EXPECT_EQ(store->sealed_key(admitted.job), "sealed-k1");
}

TEST_P(StoreContract, AnAdmissionWithoutPayloadOrIdentifierKeepsThemAbsent) {
  const Admitted admitted = admit("acme", "k1");
  EXPECT_EQ(row(admitted.execution).identifier, std::nullopt);
  EXPECT_EQ(store->view().text(admitted.execution)->value().payload, std::nullopt);
}

TEST_P(StoreContract, TheSameAdmissionRefTwiceIsAConflictAndAddsNothing) {
  const NewExecution once = fresh("acme", "k1", Millis{0});
  EXPECT_TRUE(admit_and_wait(store->admission(), once));
  const auto twice = admit_and_wait(store->admission(), once);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().kind, Failure::conflict);
  EXPECT_EQ(store->view().executions({})->size(), 1U);
}

TEST_P(StoreContract, ARefusalIsAVisibleFinishedRowThatNothingDispatches) {
  NewRefusal refusal;
  refusal.account = "acme";
  refusal.account_id = {"acme"};
  refusal.identifier = "card-moved";
  refusal.source = "if then";
  refusal.code = ErrorCode::does_not_parse;
  refusal.message = "line 1: unexpected symbol";
  refusal.at = kNoon;
  const ExecutionId id = *refuse_and_wait(store->admission(), refusal);

  const Execution row = this->row(id);
  EXPECT_EQ(row.state(), State::invalid);
  EXPECT_EQ(row.error_message, refusal.message);
  EXPECT_EQ(row.queued_at, kNoon);
  EXPECT_EQ(row.finished_at, kNoon);
  EXPECT_FALSE(row.started_at || row.job || row.key);
  EXPECT_EQ(store->view().text(id)->value().source, "if then");
  EXPECT_TRUE(store->dispatch().lanes(2)->empty());
}

TEST_P(StoreContract, ARefusalForDepthKeepsNoSource) {
  NewRefusal refusal;
  refusal.account_id = {"acme"};
  refusal.code = ErrorCode::rejected_for_depth;
  refusal.at = kNoon;
  const ExecutionId id = *refuse_and_wait(store->admission(), refusal);
  EXPECT_EQ(row(id).state(), State::rejected);
  EXPECT_EQ(store->view().text(id)->value().source, std::nullopt);
}

}  // namespace
}  // namespace coderunner::contract
