-- expect: failed 302 "MiB of memory"
local t = {}
while true do t[#t + 1] = string.pack('s4', ('x'):rep(100000)) end
