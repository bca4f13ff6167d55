// What the pieces of the Lua room share: the running script's state as C++ sees it, and a Lua state
// that closes itself. Errors raised in here are C++ exceptions (the library is Lua built as C++),
// so destructors run; nothing but Lua may catch them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "executor/lua_host.h"
#include "executor/settings.h"

struct lua_State;

namespace coderunner::executor {

// Memory of one Lua state, counted; an allocation beyond the cap fails (Lua then raises "not enough
// memory").
struct LuaMemory {
  std::size_t cap = 0;
  std::size_t used = 0;
};

struct LuaStateCloser {
  void operator()(lua_State* state) const;
};
using LuaState = std::unique_ptr<lua_State, LuaStateCloser>;

// nullptr where not even an empty state fits. `memory` must outlive it.
LuaState new_lua_state(LuaMemory& memory);

// One script's own time: what has passed since the start, less what it waited for others.
class LoopBudget {
 public:
  LoopBudget(Millis budget, const Clock& clock)
      : budget_(budget), clock_(clock), started_(clock.mono_now()) {}
  bool is_used_up() const { return clock_.mono_now() - started_ - waited_ >= budget_; }
  template <class Wait>
  auto without(Wait wait) {
    struct Pause {  // also when the wait ends in an exception
      LoopBudget& budget;
      MonoTime from;
      ~Pause() { budget.waited_ += budget.clock_.mono_now() - from; }
    } pause{*this, clock_.mono_now()};
    return wait();
  }
  // Once used up it stays so, whatever the script catches.
  bool has_fired = false;
  std::string fired_at;  // "script:3: "

 private:
  Millis budget_;
  const Clock& clock_;
  MonoTime started_;
  MonoClock::duration waited_{0};
};

struct RunningScript {
  ScriptPort& port;
  LoopBudget& budget;
  std::size_t logged = 0;  // bytes
};

// The script this state runs; set once before any of it runs.
void attach(lua_State* state, RunningScript& script);
RunningScript& running_script(lua_State* state);

// Raises once the budget is used up, and from then on before every instruction: no pcall, no
// __close and no handler outlives it. Called by the hook, and first of all by whatever a script can
// call in a loop of C (string.gsub, table.sort), where no hook runs.
void spend_budget(lua_State* state);
inline constexpr int kInstructionsPerCheck = 100;  // a look costs 3 % of them
void hook_budget(lua_State* state, int instructions);

// The name of a script's chunk, in "script:3: ...".
inline constexpr const char* kScriptChunk = "=script";

// "script:3: ", the innermost place in the script itself, whatever of ours it has called; "" where
// none of the script's functions runs. Takes none of Lua's memory and raises nothing.
std::string script_place(lua_State* state);

// Raises a text with the script's place in front.
[[noreturn]] void raise(lua_State* state, std::string_view message);

// The value on top as text for people, at most `max_bytes`, valid UTF-8. Calls __tostring, so only
// in protected code.
std::string text_of(lua_State* state, int index, std::size_t max_bytes);

}  // namespace coderunner::executor
