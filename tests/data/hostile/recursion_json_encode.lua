-- expect: failed 301 "nested deeper than 100"
local t = {}
for _ = 1, 100000 do t = {t} end
return json.encode(t)
