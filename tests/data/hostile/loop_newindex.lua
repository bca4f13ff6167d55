-- expect: failed 301 "own code ran longer than"
local t = setmetatable({}, {__newindex = function() while true do end end})
t.x = 1
