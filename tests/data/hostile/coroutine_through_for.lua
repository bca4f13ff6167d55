-- expect: failed 301 "own code ran longer than"
-- Without coroutines a generator is a closure; it has no hook of its own to escape to.
local function numbers()
  local n = 0
  return function() n = n + 1 return n end
end
for _ in numbers() do end
