-- expect: failed 302 or failed 301
local function f() return 1 + f() end
f()
