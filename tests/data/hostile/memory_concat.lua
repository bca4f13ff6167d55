-- expect: failed 302 "MiB of memory"
local t = {}
local s = ('x'):rep(1000)
for i = 1, 100000 do t[i] = s end
return table.concat(t)
