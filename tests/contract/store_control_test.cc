#include "tests/contract/backend.h"

namespace coderunner::contract {
namespace {

using namespace std::chrono_literals;

// ---- what holds

TEST_P(StoreContract, NothingStandsWhereNoOperatorActed) {
  admit("acme", "k1");
  EXPECT_EQ(*store->dispatch().standing(), Standing{});
  EXPECT_EQ(*store->view().standing(), Standing{});
}

TEST_P(StoreContract, WhatOperatorsSaidStandsForTheDrainerAndForTheViews) {
  store->pause_account({"acme"});
  store->pause_account({"zeta"});
  store->override_account({"beta"}, 1);
  const Standing expected{
      .everybody_paused = false, .paused = {{"acme"}, {"zeta"}}, .per_account = {{{"beta"}, 1}}};
  EXPECT_EQ(*store->dispatch().standing(), expected);
  EXPECT_EQ(*store->view().standing(), expected);
}

TEST_P(StoreContract, APauseOfEverybodyIsNoAccountOfItsOwn) {
  store->pause_account({"acme"});
  store->pause_account({""});
  const Standing expected{.everybody_paused = true, .paused = {{"acme"}}, .per_account = {}};
  EXPECT_EQ(*store->dispatch().standing(), expected);
}

}  // namespace
}  // namespace coderunner::contract
