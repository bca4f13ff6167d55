-- expect: failed 301 or succeeded
local t = {}
for i = 1, 10000 do t[i] = i % 7 end
table.sort(t, function() return true end)
