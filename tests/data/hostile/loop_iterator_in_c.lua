-- expect: failed 301 "own code ran longer than"
for _ in rawequal, nil, nil do end
while true do for _ in next, {1} do end end
