-- expect: failed 301 "stack overflow"
local function f(s) return (s:gsub('.', f)) end
f('a')
