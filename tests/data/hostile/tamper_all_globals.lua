-- expect: failed 301 "own code ran longer than"
local all = _G
for name in pairs(all) do all[name] = nil end
while true do end
