-- expect: succeeded
local function f() return pcall(f) end
f()
