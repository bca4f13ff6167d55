-- expect: failed 302 "MiB of memory"
local s = ('x'):rep(1e6)
while true do s = string.format('%s%s', s, s) end
