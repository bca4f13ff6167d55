-- expect: failed 301 "own code ran longer than"
local s = ('x'):rep(2^20)
while true do local t = s .. 'y' end
