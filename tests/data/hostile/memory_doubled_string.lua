-- expect: failed 302 "bytes of memory"
local s = 'x'
while true do s = s .. s end
