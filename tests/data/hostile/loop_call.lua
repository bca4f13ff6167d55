-- expect: failed 301 "own code ran longer than"
local t = {}
setmetatable(t, {__call = function(self) return self() end})
t()
