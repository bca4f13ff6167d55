// Result<T>: a value or a Failure with a message, under std::expected's member names.
// A failure is returned or logged by whoever ends its journey, never both.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "base/ensure.h"

namespace coderunner {

enum class Failure {
  unavailable,      // try again later; nothing happened
  unknown_outcome,  // the write may or may not have taken effect: re-read before acting
  conflict,         // somebody else's write came first
  invalid_input,    // the caller's words are wrong; the message says which and what to do
  corrupt,          // stored data is not what it must be
  internal,         // none of these: the message is for the operator
};

struct Error {
  Failure kind = Failure::internal;
  std::string message;
  friend bool operator==(const Error&, const Error&) = default;
};

struct Done {
  friend bool operator==(const Done&, const Done&) = default;
};

template <class T = Done>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & {
    ensure(has_value(), "Result::value() on a failure");
    return std::get<0>(state_);
  }
  const T& value() const& {
    ensure(has_value(), "Result::value() on a failure");
    return std::get<0>(state_);
  }
  // By value, so that what is taken from a temporary outlives it: for (x : *store.call()).
  T value() && {
    ensure(has_value(), "Result::value() on a failure");
    return std::move(std::get<0>(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    ensure(!has_value(), "Result::error() on a value");
    return std::get<1>(state_);
  }

  T value_or(T otherwise) const { return has_value() ? value() : std::move(otherwise); }

 private:
  std::variant<T, Error> state_;
};

inline Error fail(Failure kind, std::string message) { return Error{kind, std::move(message)}; }

}  // namespace coderunner
