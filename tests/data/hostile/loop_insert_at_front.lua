-- expect: failed 301 "own code ran longer than"
local t = {}
while true do pcall(table.insert, t, 1, 0) end
