-- expect: failed 301 "own code ran longer than"
return table.unpack(setmetatable({}, {__len = function() while true do end end}))
