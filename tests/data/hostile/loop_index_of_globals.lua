-- expect: failed 301 "own code ran longer than"
setmetatable(_G, {__index = function() while true do end end})
return nothing
