-- expect: failed 301 "own code ran longer than"
local mt = {__close = function() while true do end end}
local function leave()
  local a <close> = setmetatable({}, mt)
  local b <close> = setmetatable({}, mt)
  error("out")
end
while true do pcall(leave) end
