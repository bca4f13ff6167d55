-- expect: failed 301 "own code ran longer than"
local t = setmetatable({}, {__index = function() while true do end end})
return t.x
