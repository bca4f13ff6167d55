-- expect: failed 301 "loop"
local t = {}
setmetatable(t, {__index = t})
return t.x
