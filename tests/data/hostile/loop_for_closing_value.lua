-- expect: failed 301 "own code ran longer than"
local closing = setmetatable({}, {__close = function() while true do end end})
while true do
  pcall(function() for _ in function() return 1 end, nil, nil, closing do break end end)
end
