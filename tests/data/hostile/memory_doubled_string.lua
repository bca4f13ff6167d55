-- expect: failed 302 "MiB of memory"
local s = 'x'
while true do s = s .. s end
