-- expect: failed 301 "own code ran longer than"
getmetatable('').__index = function() while true do end end
return ('x').y
