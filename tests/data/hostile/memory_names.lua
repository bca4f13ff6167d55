-- expect: failed 302 "MiB of memory"
local t, i = {}, 0
while true do i = i + 1 t[('name'):rep(100) .. i] = true end
