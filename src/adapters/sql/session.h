// One connection to the store, as the faces see it: texts with bound values in, rows out. Called by
// the commit queue and the reader pool, one thread at a time; faults in tests are decorators of it.
// Must never read a clock, and never let a statement stay open: every row is read before it
// answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"

namespace coderunner::sql {

// A bound value. Placeholders are `:name` and are bound in order; each name stands once in a text.
class Value {
 public:
  Value(std::nullopt_t) {}
  Value(std::int64_t number) : kind_(Kind::number), number_(number) {}
  Value(int number) : Value(std::int64_t{number}) {}
  Value(std::string text) : kind_(Kind::text), text_(std::move(text)) {}
  Value(std::string_view text) : Value(std::string{text}) {}
  Value(const char* text) : Value(std::string{text}) {}
  Value(UtcTime at) : Value(to_sql(at)) {}
  template <class Tag>
  Value(const NumberId<Tag>& id) : Value(id.value) {}
  template <class Tag>
  Value(const TextId<Tag>& id) : Value(id.value) {}
  template <class T>
  Value(const std::optional<T>& value) : Value(value ? Value(*value) : Value(std::nullopt)) {}

  bool is_null() const { return kind_ == Kind::null; }
  const std::int64_t* number() const { return kind_ == Kind::number ? &number_ : nullptr; }
  const std::string* text() const { return kind_ == Kind::text ? &text_ : nullptr; }

 private:
  enum class Kind { null, number, text };
  Kind kind_ = Kind::null;
  std::int64_t number_ = 0;
  std::string text_;
};
using Values = std::vector<Value>;

// One row read; columns count from 0. What another program wrote into a column is read as well as
// it can be: text that is no number is 0, text that is no time is the epoch.
class Row {
 public:
  using Cell = std::optional<std::string>;
  explicit Row(std::vector<Cell> cells) : cells_(std::move(cells)) {}

  bool is_null(std::size_t column) const { return !cells_.at(column).has_value(); }
  std::string text(std::size_t column) const { return cells_.at(column).value_or(""); }
  std::optional<std::string> maybe_text(std::size_t column) const { return cells_.at(column); }
  std::int64_t number(std::size_t column) const;
  std::optional<std::int64_t> maybe_number(std::size_t column) const;
  UtcTime time(std::size_t column) const;
  std::optional<UtcTime> maybe_time(std::size_t column) const;

 private:
  std::vector<Cell> cells_;
};
using Rows = std::vector<Row>;

// Failures: unavailable (locked, disk full, I/O, file gone), corrupt, conflict (a constraint),
// internal; unknown_outcome of a COMMIT that has not taken effect, but may do so when the store is
// opened anew. Messages name the store, never a bound value.
class Session {
 public:
  virtual ~Session() = default;

  // Answers how many rows an INSERT, UPDATE or DELETE changed; 0 for anything else.
  virtual Result<std::int64_t> execute(std::string_view text, const Values& values) = 0;
  // An INSERT; answers the new row's id.
  virtual Result<std::int64_t> insert(std::string_view text, const Values& values) = 0;
  virtual Result<Rows> query(std::string_view text, const Values& values) = 0;

  // Whether a transaction lives, as the store itself says (rulings 28).
  virtual bool in_transaction() const = 0;
  // Whether the last failure was only another connection's lock.
  virtual bool was_busy() const = 0;
  // Outside a transaction: opens the session again where an error or a vanished file broke it.
  virtual Result<Done> ensure_usable() = 0;

  Result<std::int64_t> execute(std::string_view text) { return execute(text, {}); }
  Result<Rows> query(std::string_view text) { return query(text, {}); }
};

}  // namespace coderunner::sql
