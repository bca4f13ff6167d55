-- expect: failed 301 "own code ran longer than"
local t = {1, 2, {a = 'b'}}
while true do json.decode(json.encode(t)) end
