-- expect: failed 302 "MiB of memory"
local t = {}
while true do local x = {} t[#t + 1] = function() return x end end
