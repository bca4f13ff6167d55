-- expect: failed 301 "own code ran longer than"
local mt = {__lt = function() while true do end end}
return setmetatable({}, mt) < setmetatable({}, mt)
