-- expect: failed 301 "own code ran longer than"
local left
local function right() return left() end
left = function() return right() end
left()
