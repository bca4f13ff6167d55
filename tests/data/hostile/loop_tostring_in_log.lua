-- expect: failed 301 "own code ran longer than"
log(setmetatable({}, {__tostring = function() while true do end end}))
