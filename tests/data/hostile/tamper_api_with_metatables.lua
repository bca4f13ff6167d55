-- expect: failed 301 "own code ran longer than"
local forever = setmetatable({}, {__index = function() while true do end end})
pcall(api.move_card, 1, forever)
while true do end
