-- expect: failed 301 "own code ran longer than"
for _ in pairs(setmetatable({}, {__pairs = function() while true do end end})) do end
