-- expect: succeeded
local mt = {}
for _ = 1, 1000 do setmetatable({}, mt) end
mt.__gc = function() while true do end end
for _ = 1, 100000 do local garbage = {{}} end
