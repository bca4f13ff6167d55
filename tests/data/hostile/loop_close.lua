-- expect: failed 301 "own code ran longer than"
local forever <close> = setmetatable({}, {__close = function() while true do end end})
