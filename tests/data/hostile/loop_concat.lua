-- expect: failed 301 "own code ran longer than"
return setmetatable({}, {__concat = function() while true do end end}) .. ''
