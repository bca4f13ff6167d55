// What really happened: every call and every side effect the fake API let take place, in order
// (contract section 1). Tests and demos read it over GET /_ledger as the proof against CodeRunner's
// own rows.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/time.h"

namespace coderunner::fake {

struct Effect {
  UtcTime at;
  std::string account;
  std::string method;
  std::string path;             // what follows /api/v2, without the query
  nlohmann::ordered_json body;  // null where none was sent
  friend bool operator==(const Effect&, const Effect&) = default;
};

class Ledger {
 public:
  void count_call() { ++calls_; }
  void count_limited() { ++limited_; }
  // `bytes`: of the body as it was sent.
  void record(Effect effect, std::size_t bytes);

  // {"calls","limited","effects":[…]}, and "dropped" once effects beyond the limit were let go.
  // Calls counts the limited ones too.
  std::string to_json() const;

 private:
  std::int64_t calls_ = 0;
  std::int64_t limited_ = 0;
  std::int64_t dropped_ = 0;
  std::size_t bytes_ = 0;
  std::vector<Effect> effects_;
};

}  // namespace coderunner::fake
