// coderunner-sim: seeds through the simulator, judged; a failing one replays and shrinks.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>

#include "sim/simulation.h"

namespace {

using namespace coderunner;
using namespace coderunner::sim;

constexpr std::size_t kTraceTail = 60;

struct Totals {
  std::int64_t passed = 0;
  std::int64_t failed = 0;
  std::map<std::string, std::int64_t> counts;
};

void print_failure(std::uint64_t seed, const Violation& violation) {
  const Scenario failing = draw_scenario(seed);
  const Scenario small = shrink(failing);
  const SimulationResult again = simulate(small, {.keeps_trace = true});
  std::string text = fmt::format("seed {} violates \"{}\": {}\nshrunk to:\n{}", seed,
                                 violation.invariant, violation.what, describe(small));
  if (again.violation) text += "which gives: " + again.violation->what + "\n";
  const std::size_t skipped = again.trace.size() > kTraceTail ? again.trace.size() - kTraceTail : 0;
  for (std::size_t i = skipped; i < again.trace.size(); ++i) text += again.trace[i] + "\n";
  fmt::print("{}replay it whole with: ./dev sim --seed {} --trace\n", text, seed);
}

Totals run_seeds(std::uint64_t first, std::uint64_t seeds, std::uint64_t step) {
  constexpr std::int64_t kShown = 3;
  Totals totals;
  for (std::uint64_t seed = first; seed < first + seeds; seed += step) {
    const SimulationResult result = simulate(draw_scenario(seed));
    for (const auto& [name, count] : result.counts) totals.counts[std::string{name}] += count;
    if (!result.violation) {
      ++totals.passed;
    } else if (++totals.failed <= kShown) {
      print_failure(seed, *result.violation);
    } else {
      fmt::print("seed {} violates \"{}\": {}\n", seed, result.violation->invariant,
                 result.violation->what);
    }
    std::fflush(stdout);
  }
  return totals;
}

// A job is a process of its own, told apart by the seeds it takes; its totals come back as lines.
Totals run_jobs(std::uint64_t first, std::uint64_t seeds, unsigned jobs) {
  std::vector<std::pair<pid_t, int>> children;
  for (unsigned job = 0; job < jobs; ++job) {
    int ends[2];
    if (::pipe(ends) != 0) break;
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::close(ends[0]);
      const Totals totals = run_seeds(first + job, seeds - job, jobs);
      std::string text =
          fmt::format("{} seeds passed\n{} seeds failed\n", totals.passed, totals.failed);
      for (const auto& [name, count] : totals.counts) text += fmt::format("{} {}\n", count, name);
      const bool is_told =
          ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
      ::_exit(is_told ? 0 : 1);
    }
    ::close(ends[1]);
    children.emplace_back(pid, ends[0]);
  }
  Totals totals;
  for (const auto& [pid, end] : children) {
    std::FILE* lines = ::fdopen(end, "r");
    char name[128];
    long long count = 0;
    bool is_told = false;
    while (std::fscanf(lines, "%lld %127[^\n]", &count, name) == 2) {
      is_told = true;
      if (std::string_view{name} == "seeds passed")
        totals.passed += count;
      else if (std::string_view{name} == "seeds failed")
        totals.failed += count;
      else
        totals.counts[name] += count;
    }
    std::fclose(lines);
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (status != 0 || !is_told) {
      fmt::print("a job ended by itself (status {})\n", status);
      ++totals.failed;
    }
  }
  return totals;
}

int replay(std::uint64_t seed, bool with_trace) {
  const Scenario scenario = draw_scenario(seed);
  const SimulationResult result = simulate(scenario, {.keeps_trace = with_trace});
  fmt::print("{}", describe(scenario));
  for (const std::string& line : result.trace) fmt::print("{}\n", line);
  for (const auto& [name, count] : result.counts) fmt::print("{:>8} {}\n", count, name);
  if (result.violation)
    fmt::print("violates \"{}\": {}\n", result.violation->invariant, result.violation->what);
  fmt::print("{} passed, {} failed\n", result.violation ? 0 : 1, result.violation ? 1 : 0);
  return result.violation ? 1 : 0;
}

int report(Totals totals, std::uint64_t seeds) {
  constexpr std::uint64_t kEnoughForAll = 500;
  fmt::print("what happened, over all seeds:\n");
  for (const auto& [name, count] : totals.counts) fmt::print("{:>10} {}\n", count, name);
  for (const std::string_view name : expected_counts())
    if (seeds >= kEnoughForAll && !totals.counts.contains(std::string{name})) {
      fmt::print("never happened: {}\n", name);
      ++totals.failed;
    }
  fmt::print("{} passed, {} failed\n", totals.passed, totals.failed);
  return totals.failed > 0 ? 1 : 0;
}

struct Arguments {
  std::uint64_t seeds = 500;
  std::uint64_t first = 1;
  std::uint64_t jobs = 2;
  std::optional<std::uint64_t> seed;
  bool with_trace = false;
};

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments is;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name{argv[i]};
    if (name == "--trace") {
      is.with_trace = true;
      continue;
    }
    const auto value = i + 1 < argc ? number_in(argv[++i]) : std::nullopt;
    if (!value) return std::nullopt;
    if (name == "--seeds" && *value > 0)
      is.seeds = *value;
    else if (name == "--first")
      is.first = *value;
    else if (name == "--jobs" && *value > 0)
      is.jobs = *value;
    else if (name == "--seed")
      is.seed = *value;
    else
      return std::nullopt;
  }
  return is;
}

}  // namespace

int main(int argc, char** argv) {
  const auto is = parse(argc, argv);
  if (!is) {
    fmt::print(stderr,
               "usage: coderunner-sim [--seeds N] [--first S] [--jobs N]\n"
               "       coderunner-sim --seed S [--trace]\n");
    return 2;
  }
  if (is->seed) return replay(*is->seed, is->with_trace);
  const std::uint64_t jobs = std::min(is->jobs, is->seeds);
  return report(run_jobs(is->first, is->seeds, static_cast<unsigned>(jobs)), is->seeds);
}
