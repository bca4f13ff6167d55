-- expect: failed 301 "json: the text is too large"
local t = {}
for i = 1, 60000 do t["k" .. i] = 1 end
t.a = t
return json.encode(t)
