-- expect: failed 301 "own code ran longer than"
for _ = 1, math.huge do end
