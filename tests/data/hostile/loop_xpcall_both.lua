-- expect: failed 301 "own code ran longer than"
local function forever() while true do end end
while true do xpcall(forever, forever) end
