-- expect: failed 302 "MiB of memory"
local s = 'x'
while true do s = s:gsub('.', '%0%0') end
