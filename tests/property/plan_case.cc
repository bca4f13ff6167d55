#include "tests/property/plan_case.h"

#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <ostream>
#include <tuple>

namespace coderunner {
namespace {

using namespace std::chrono_literals;
using rc::Maybe;
namespace gen = rc::gen;

constexpr UtcTime kNow = UtcTime{1'787'573'280'000ms};

using DrawnRow = std::tuple<int, bool, Maybe<int>>;  // age, in flight, seconds of its back-off
using DrawnLane = std::tuple<int, int, std::vector<DrawnRow>>;  // account, key, rows

AccountId account(int number) { return {fmt::format("a{}", number)}; }
std::optional<ApiKeyHash> key(int number) {
  if (number == 0) return std::nullopt;
  return ApiKeyHash{fmt::format("k{}", number)};
}

// rapidcheck narrows ranges and containers with its growing size; these keep theirs from the start.
rc::Gen<int> number(int from, int below) {
  return gen::resize(rc::kNominalSize, gen::inRange(from, below));
}
template <class T>
std::vector<T> some(int most, const rc::Gen<T>& element) {
  return *gen::resize(most, gen::container<std::vector<T>>(element));
}

rc::Gen<int> accounts() { return number(0, 5); }
rc::Gen<int> keys() { return number(0, 6); }  // shared between accounts; 0 is none

template <class T>
rc::Gen<Maybe<T>> seldom(const rc::Gen<T>& drawn) {
  return gen::weightedOneOf<Maybe<T>>(
      {{6, gen::just(Maybe<T>{})}, {1, gen::map(drawn, [](T value) { return Maybe<T>{value}; })}});
}

std::optional<UtcTime> after_now(const Maybe<int>& seconds) {
  return seconds ? std::optional{kNow + *seconds * 1s} : std::nullopt;
}

std::vector<DrawnLane> draw_lanes() {
  const auto is_one_of_seven = gen::map(number(0, 7), [](int of) { return of == 6; });
  const auto row = gen::tuple(number(0, 100), is_one_of_seven, seldom(number(-5, 60)));
  return some(12, gen::tuple(accounts(), keys(),
                             gen::resize(5, gen::container<std::vector<DrawnRow>>(row))));
}

void add_lanes(PlanInput& input) {
  std::int64_t next_id = 1;
  for (auto& [of_account, of_key, rows] : draw_lanes()) {
    Lane lane{account(of_account), key(of_key), {}};
    const bool is_known = std::ranges::any_of(input.lanes, [&lane](const Lane& other) {
      return other.account == lane.account && other.key == lane.key;
    });
    if (is_known) continue;
    std::ranges::stable_sort(rows, {}, [](const DrawnRow& row) { return std::get<int>(row); });
    for (const auto& [age, is_in_flight, back_off] : rows) {
      const std::int64_t id = next_id++;
      lane.rows.push_back({{id}, {id}, kNow - 1h + age * 1s, after_now(back_off)});
      if (is_in_flight) input.in_flight.push_back({{id}, lane.account, lane.key});
    }
    input.lanes.push_back(std::move(lane));
  }
}

// Runs whose rows are queued no more.
void add_runs(PlanInput& input) {
  std::int64_t next_id = 1000;
  for (const auto& [of_account, of_key] : some(2, gen::pair(accounts(), keys())))
    input.in_flight.push_back({{next_id++}, account(of_account), key(of_key)});
}

void add_gates(PlanInput& input) {
  const auto numbered = number(1, 6);
  for (const auto& [of_key, seconds] : some(2, gen::pair(numbered, number(-10, 100))))
    input.gates[*key(of_key)] = kNow + seconds * 1s;
  for (const int one : some(2, numbered)) input.probing.insert(*key(one));
  for (const int one : some(3, numbered)) input.limited.insert(*key(one));
}

void add_orders(PlanInput& input) {
  input.everybody_paused = *number(0, 20) == 19;
  for (const int one : some(1, accounts())) input.paused.insert(account(one));
  for (const auto& [one, cap] : some(2, gen::pair(accounts(), number(0, 5))))
    input.per_account[account(one)] = cap;
  if (const auto most = *seldom(number(0, 3))) input.most_picks = *most;
  input.executor_down_until = after_now(*seldom(number(-5, 30)));
}

std::string name(const std::optional<ApiKeyHash>& key) { return key ? key->value : "-"; }

template <class Names>
std::string listed(const Names& names) {
  std::string text;
  for (const auto& one : names) text += " " + one.value;
  return text;
}

}  // namespace

PlanCase draw_plan_case() {
  PlanCase drawn;
  PlanInput& input = drawn.input;
  input.now = kNow;
  input.limits.order = *gen::element(Order::fair, Order::fifo);
  input.limits.concurrency = *number(1, 8);
  input.limits.per_account = *number(1, 4);
  add_lanes(input);
  add_runs(input);
  add_gates(input);
  add_orders(input);
  for (const auto& [one, seconds] : some(5, gen::pair(accounts(), number(0, 60))))
    drawn.used.push_back({account(one), seconds * 1s});
  return drawn;
}

FairShare PlanCase::shares() const {
  FairShare shares;
  shares.rebuild(used);
  shares.set_active(active_accounts(input));
  return shares;
}

std::ostream& operator<<(std::ostream& out, const PlanCase& drawn) {
  const PlanInput& is = drawn.input;
  const auto from_now = [&is](UtcTime at) { return (at - is.now) / 1s; };
  out << fmt::format("{}, {} slots, {} per account\n",
                     is.limits.order == Order::fair ? "fair" : "fifo", is.limits.concurrency,
                     is.limits.per_account);
  for (const Lane& lane : is.lanes) {
    out << fmt::format("lane {} {}:", lane.account.value, name(lane.key));
    for (const LaneRow& row : lane.rows) {
      out << fmt::format(" {}@{}", row.execution.value, from_now(row.queued_at));
      if (row.not_before) out << fmt::format("(back-off {})", from_now(*row.not_before));
    }
    out << '\n';
  }
  for (const Occupied& one : is.in_flight)
    out << fmt::format("in flight {} {} {}\n", one.execution.value, one.account.value,
                       name(one.key));
  for (const auto& [key, until] : is.gates)
    out << fmt::format("gate {} {}\n", key.value, from_now(until));
  out << fmt::format("probing{}, limited{}, paused{}{}\n", listed(is.probing), listed(is.limited),
                     is.everybody_paused ? " everybody" : "", listed(is.paused));
  for (const auto& [account, cap] : is.per_account)
    out << fmt::format("cap {} {}\n", account.value, cap);
  if (is.most_picks) out << fmt::format("at most {} picks\n", *is.most_picks);
  if (is.executor_down_until)
    out << fmt::format("executor down {}\n", from_now(*is.executor_down_until));
  for (const SlotUse& use : drawn.used)
    out << fmt::format("{} has held {} s\n", use.account.value, use.held / 1s);
  return out << drawn.plan();
}

std::ostream& operator<<(std::ostream& out, const Plan& plan) {
  for (const Pick& pick : plan.picks)
    out << fmt::format("picked {} of {} {}\n", pick.row.execution.value, pick.account.value,
                       name(pick.key));
  for (const LaneSkip& skip : plan.skips)
    out << fmt::format("skipped {} {}: {}\n", skip.account.value, name(skip.key),
                       to_text(skip.reason));
  return out;
}

}  // namespace coderunner
