-- expect: failed 302 "MiB of memory"
local s = 'x'
while true do local _, m = pcall(error, s .. s) s = m end
