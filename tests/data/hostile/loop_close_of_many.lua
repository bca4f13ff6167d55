-- expect: failed 301 "own code ran longer than"
local mt = {__close = function() while true do end end}
local function open(n)
  local one <close> = setmetatable({}, mt)
  if n > 0 then open(n - 1) end
  while true do end
end
open(150)
